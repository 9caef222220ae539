"""Files to import; the sentences are our own."""

from __future__ import annotations

from pathlib import Path

from grater.annotate.importing import import_files
from grater.annotate.store import Store
from grater.corpora import write_corpus
from grater.model import Edit, Essay, Json, Span

ESSAYS = (
    "We waited on the bus stop for our friend. He came with a bicycle from the city.",
    "She is good in maths and she likes of swimming at the lake. 😀 Naïve, isn't it?",
    "They discussed about the plan during two hours.\r\nAfter that they went to home.",
)


def write_essays(folder: Path) -> Path:
    """A corpus in our own format, with one annotator's edit in the first essay."""
    edit = Edit(Span(10, 12), ("at",), "Prep", "A1")
    essays = [Essay(f"e{n}", text, (edit,) if n == 0 else (), ("A1",)) for n, text in enumerate(ESSAYS)]
    write_corpus(essays, folder / "essays.jsonl", lambda _: None)
    return folder / "essays.jsonl"


def write_text(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def write_items(folder: Path) -> Path:
    rows = ("one,e0,10,12,prep,on,B1", "two,e1,12,14,prep,in,B2")
    return write_text(folder / "items.csv", "item,essay,start,end,kind,target,level", *rows)


def mark(text: str, words: str, tag: str, replacement: str, **more: Json) -> dict[str, Json]:
    """An edit as a page sends it."""
    start = text.index(words)
    place: dict[str, Json] = {"start": start, "end": start + len(words), "quote": words}
    return {**place, "tag": tag, "replacements": [replacement], **more}


def write_decisions(folder: Path) -> Path:
    rows = ("one,S,1,0.9,at", "two,S,0,0.1,in")
    return write_text(folder / "decisions.csv", "item,system,flagged,score,suggestion", *rows)


def write_judgments(folder: Path) -> Path:
    return write_text(
        folder / "judgments.csv",
        "item,rater,label,status,seconds,at,flags",
        "one,Zoe,error,valid,4.5,2026-01-02T03:04:05Z,spelling",
        "one,Yan,ok,valid,3,,",
        "one,Xia,ok,untrusted,,,",
        "elsewhere,Zoe,=1+1,,,,",
    )


def import_all(store: Store, folder: Path) -> None:
    """The essays, two items, a system's decisions about them, and judgments as the job `before`."""
    corpora, items, decisions = [write_essays(folder)], [write_items(folder)], [write_decisions(folder)]
    judgments = [write_judgments(folder)]
    import_files(store, corpora=corpora, items=items, decisions=decisions, judgments=judgments, job="before")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
