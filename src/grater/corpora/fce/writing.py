"""FCE scripts from essays; what the format is, and what it cannot hold, stands in the package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from grater.corpora.fce.marking import IN_ATTRIBUTE, IN_TEXT, coded, fit
from grater.corpora.fce.reading import FIELDS
from grater.corpora.format import Loss, Report
from grater.model import Essay, short_hash

ANSWER = r"answer\w*"
NUMBER = re.compile(r"(?P<base>.*)#(?P<number>[1-9][0-9]{0,8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An essay as a script's answer; no `sortkey` where the id is a hash of the text."""

    essay: Essay
    sortkey: str | None
    name: str
    fields: Mapping[str, str]

    def learner(self, number: int) -> tuple[str | int, ...]:
        """Equal for the answers of one script; `number` keeps apart those without a sortkey."""
        candidate = (self.fields.get(name, "") for name in ("language", "age", "score"))
        return (number if self.sortkey is None else self.sortkey, *candidate)


def write_fce(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    scripts = _scripts(_answer(essay, base, report) for essay, base in _bases(essays))
    first, second = next(scripts, None), next(scripts, None)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    if first is not None and second is None:
        yield from _script(first, report)
        return
    yield "<fce>\n"
    for script in chain([first] if first else [], [second] if second else [], scripts):
        yield from _script(script, report)
    yield "</fce>\n"


def _bases(essays: Iterable[Essay]) -> Iterator[tuple[Essay, str]]:
    """Each essay with the id to write, less the number that reading gives to repeated ids."""
    n_seen: Counter[str] = Counter()
    for essay in essays:
        base = essay.essay_id
        match = NUMBER.fullmatch(base)
        if match and n_seen[match["base"]] == int(match["number"]) - 1 > 0:
            base = match["base"]
        n_seen[base] += 1
        yield essay, base


def _answer(essay: Essay, base: str, report: Report) -> _Answer:
    fields = _held_metadata(essay, report)
    sortkey, name = _place(essay, base, fields, report)
    for field, written in (("sortkey", sortkey), ("answer", name)):
        if fields.get(field, written) != written:
            report(Loss(essay.essay_id, f"metadata {field}", "it disagrees with the essay id"))
    return _Answer(essay, sortkey, name, fields)


def _place(essay: Essay, base: str, fields: Mapping[str, str], report: Report) -> tuple[str | None, str]:
    """The script and the answer that the id names."""
    if base == short_hash(essay.text):
        name = fields.get("answer", "answer1")
        return None, name if re.fullmatch(ANSWER, name, re.ASCII) else "answer1"
    match = re.fullmatch(rf"(.*)/({ANSWER})", base, re.ASCII | re.DOTALL)
    if match is None:
        why = "FCE names a script and its answers: written as the script's answer1"
        report(Loss(essay.essay_id, "essay id", why, changed=True))
    sortkey, name = match.groups() if match else (base, "answer1")
    return fit(essay, "essay id", sortkey, report), name


def _held_metadata(essay: Essay, report: Report) -> dict[str, str]:
    """The fields that the format has, as text; each other one is reported."""
    fields: dict[str, str] = {}
    for name, value in essay.metadata.items():
        if name not in FIELDS.values() and name != "answer":
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has no such field"))
        elif isinstance(value, str):
            fields[name] = fit(essay, f"metadata {name}", value, report)
        elif isinstance(value, int | float):
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has text only", changed=True))
            fields[name] = str(value)
        else:
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has text only"))
    return fields


def _scripts(answers: Iterable[_Answer]) -> Iterator[list[_Answer]]:
    """Neighbouring answers of one learner; an answer's name can stand once in a script."""
    for _, group in groupby(enumerate(answers), key=lambda numbered: numbered[1].learner(numbered[0])):
        script: list[_Answer] = []
        for _, answer in group:
            if any(other.name == answer.name for other in script):
                yield script
                script = []
            script.append(answer)
        yield script


def _script(answers: Sequence[_Answer], report: Report) -> Iterator[str]:
    head, fields = answers[0].sortkey, answers[0].fields
    yield "<learner><head>\n" if head is None else f'<learner><head sortkey="{head.translate(IN_ATTRIBUTE)}">\n'
    personnel = _leaf(fields, "language") + _leaf(fields, "age")
    yield f"  <candidate><personnel>{personnel}</personnel>{_leaf(fields, 'score')}</candidate>\n  <text>\n"
    for answer in answers:
        yield f"    <{answer.name}>\n      "
        yield _leaf(answer.fields, "question_number") + _leaf(answer.fields, "exam_score")
        yield f"\n      <coded_answer>\n<p>{coded(answer.essay, report)}</p>\n      </coded_answer>\n"
        yield f"    </{answer.name}>\n"
    yield "  </text>\n</head></learner>\n"


def _leaf(fields: Mapping[str, str], name: str) -> str:
    return f"<{name}>{fields[name].translate(IN_TEXT)}</{name}>" if name in fields else ""
