"""What a detector would change, as edits: any system of decisions becomes a corrector that can be scored as one.

A system from outside says its edits itself, whatever they are about; of several suggestions the first is taken, and
marks without one are left out.  Of our own detectors every flag with a suggestion is an edit.  Corrections are cut
into words where the essay came with tokens, so that they can be held against its annotators, and changes of white
space alone, which tokens know nothing of, are left out.  Of edits that overlap the first in the text stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from grater.corpora.normalise import token_texts
from grater.detect.detector import Detector, Finding
from grater.detect.external import ExternalDetector
from grater.model import DELETE, Edit, Essay, Span


def corrected_essays(detector: Detector, essays: Iterable[Essay]) -> Iterator[Essay]:
    """The essays with the detector as their one annotator."""
    kept = list(essays)
    if isinstance(detector, ExternalDetector):
        by_essay = {essay.essay_id: list(edits) for essay, edits in detector.corrector.correct(kept)}
    else:
        groups = groupby(detector.find(kept), key=lambda finding: finding.item.essay_id)
        by_essay = {essay_id: list(_edits(findings, detector.name)) for essay_id, findings in groups}
    for essay in kept:
        edits = _fitted(by_essay.get(essay.essay_id, []), essay, detector.name)
        yield replace(essay, edits=tuple(edits), annotators=(detector.name,))


def _edits(findings: Iterable[Finding], system: str) -> Iterator[Edit]:
    for finding in findings:
        suggestion = finding.decision.suggestion
        if finding.decision.flagged and suggestion is not None:
            words = "" if suggestion == DELETE else suggestion
            yield Edit(span=finding.item.span, replacements=(words,), tag=finding.item.kind, rater=system)


def _fitted(edits: Iterable[Edit], essay: Essay, system: str) -> Iterator[Edit]:
    """Edits that change something, one correction each, none over another."""
    end, was_insertion = 0, False
    for edit in sorted(edits, key=lambda edit: edit.span):
        if not edit.replacements or edit.span.start < end or (was_insertion and edit.span == Span(end, end)):
            continue
        words = edit.replacements[0]
        old, new = edit.span.of(essay.text), words
        if essay.tokens is not None:
            old, new = " ".join(old.split()), " ".join(token_texts(words))
        if new != old:
            yield replace(edit, replacements=(new,), rater=system)
            end, was_insertion = edit.span.end, edit.span.start == edit.span.end
