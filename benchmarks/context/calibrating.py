"""The calibrations of a model: parts `calibrate`, which fits them and writes the model anew, and `usual`.

Calibrations are fitted on half of CoNLL-2014, by document, and the shipped thresholds chosen on well-formed text
(`--well-formed`), for all errors or for those of `--only`.
"""

from __future__ import annotations

from benchmarks.context.options import Options
from benchmarks.context.texts import N_NATIVE_WORDS, OFFICIAL, TAGS, as_essays, halves, learner_documents, some

from grater.detect.context.calibration import NAMES
from grater.detect.context.detector import save
from grater.detect.context.tuning import calibrated, possible_flags, usual_share
from grater.models import read_model


def usual(options: Options) -> None:
    """The share of corrections that are signs of errors, on the half that calibrations come from."""
    essays, _ = halves(learner_documents())
    flags = list(possible_flags(options.detector, essays))
    for name, calibration in options.detector.calibrations.items():
        print(f"{name}: {usual_share(flags, name, calibration)}")


def calibrate(options: Options) -> None:
    """Fit the calibrations, choose thresholds, write the model."""
    essays, _ = halves(learner_documents())
    if options.well_formed is None:
        raise SystemExit("calibrate needs --well-formed FILE: sentences that the network did not learn from")
    with options.well_formed.open(encoding="utf-8") as lines:
        well_formed, _ = some(as_essays(lines), N_NATIVE_WORDS)
    fitted = calibrated(options.detector, essays, well_formed, tags=TAGS, raters=OFFICIAL)
    calibrations = {
        name: fitted[name] if name in (options.only or NAMES) else kept
        for name, kept in options.detector.calibrations.items()
    }
    for name, calibration in calibrations.items():
        print(name, calibration.as_json())
    save(
        options.path,
        graph=read_model(options.path, kind="context").arrays["network"].tobytes(),
        pieces=options.detector.vocabulary.pieces,
        calibrations=calibrations,
        card=options.detector.card,
    )
    print(f"{options.path}: {options.path.stat().st_size / 1e6:.1f} MB")
