"""Tiny models, trained once for all tests that need one."""

from __future__ import annotations

from functools import cache

from grater.detect.prepositions.detector import PrepositionDetector, Thresholds
from grater.detect.prepositions.engines import LinearEngine
from grater_train.events import Events
from grater_train.prepositions import HeldOutLines, Method, PrepositionOptions, batches_of, gathered, train
from tests.detect.prepositions.native_text import native_lines


@cache
def tiny_events() -> tuple[Events, tuple[str, ...]]:
    held_out = HeldOutLines()
    batches = batches_of(held_out.keeping(native_lines()), gap_rate=0.3)
    return gathered(batches, min_count=1), tuple(held_out.in_order())


@cache
def tiny_engine(method: Method = "maxent") -> LinearEngine:
    events, held_out = tiny_events()
    options = PrepositionOptions(method=method, min_count=1)
    return train(events, held_out, options, card={"name": f"tiny-{method}"})


def tiny_detector(method: Method = "maxent") -> PrepositionDetector:
    engine = tiny_engine(method)
    return PrepositionDetector("tiny", engine, Thresholds(1.0, 1.0, 1.0), engine.card, known=engine.vocabulary)
