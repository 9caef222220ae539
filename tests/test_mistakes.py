"""Mistakes that people make: each is answered with one line that says what to do, and nothing is stored.

A mistake is the files of a folder, a command in it, and words that the answer must have: what to type or change.
`study.db` is a study with one essay (`first`), its item `one`, and the job `errors` on it.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook

from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.status import new_study
from tests.cli.running import Capture, grater

TEXT = "We waited on the bus stop."
ITEMS = "item,essay,start,end,kind\none,first,10,12,prep\n"
DECISIONS = "item,system,flagged\none,S,1\n"
JUDGMENTS = "item,rater,label\none,Ada,ok\n"
M2 = "S We waited on it .\nA 2 3|||Prep|||for|||REQUIRED|||-NONE-|||0\n\n"
IMPORT = "study import study.db"


def book(*rows: tuple[str, ...]) -> bytes:
    made, stream = Workbook(), BytesIO()
    for row in rows:
        made.active.append(row)
    made.save(stream)
    return stream.getvalue()


@dataclass(frozen=True)
class Mistake:
    name: str
    command: str
    words: str
    files: Mapping[str, str | bytes] = field(default_factory=dict)


MISTAKES = (
    Mistake(
        "decisions and judgments swapped",
        "evaluate --decisions j.csv --judgments d.csv",
        "expected decisions, found a table of judgments; pass it as --judgments",
        {"j.csv": JUDGMENTS, "d.csv": DECISIONS},
    ),
    Mistake("a file that is not there", f"{IMPORT} esays.txt", "no such file"),
    Mistake("a folder without texts", f"{IMPORT} pictures", "name the format", {"pictures/a.png": b"\x89PNG"}),
    Mistake("no file at all", IMPORT, "study import --help"),
    Mistake("an empty text", f"{IMPORT} a.txt", "empty", {"a.txt": ""}),
    Mistake("a text of two million words", f"{IMPORT} a.txt", "split it", {"a.txt": "word " * 2_000_000}),
    Mistake("two encodings in one file", f"{IMPORT} a.txt", "--encoding", {"a.txt": "é".encode() + b" \xe9"}),
    Mistake("an encoding that there is not", f"{IMPORT} a.txt --encoding ansi8", "cp1252", {"a.txt": "Other words."}),
    Mistake("bytes that are no text", f"{IMPORT} a.txt", "is it text at all", {"a.txt": b"\x00\x01\x00\x02\x03\x05"}),
    Mistake("M2 called text", f"{IMPORT} a.txt", "--format m2", {"a.txt": M2}),
    Mistake("text called M2", f"{IMPORT} a.m2", "a line starting with 'S '", {"a.m2": "Other words."}),
    Mistake("a picture called .docx", f"{IMPORT} a.docx", "Word document", {"a.docx": b"\x89PNG"}),
    Mistake("an old Word document", f"{IMPORT} a.doc", "save it as .docx", {"a.doc": b"\xd0\xcf\x11"}),
    Mistake("another text of a name that is taken", f"{IMPORT} first.txt", "rename", {"first.txt": "Other words."}),
    Mistake("a table without ids", f"{IMPORT} a.csv", "id=NAME", {"a.csv": "student,text\nann,Hello.\n"}),
    Mistake("a table without texts", f"{IMPORT} a.csv", "text=", {"a.csv": "id,essay_body\nann,Hello.\n"}),
    Mistake("an id twice in a table", f"{IMPORT} a.csv", "in line 2 too", {"a.csv": "id,text\na,One.\na,Two.\n"}),
    Mistake("a workbook without a header", f"{IMPORT} a.xlsx", "id=NAME,text=NAME",
            {"a.xlsx": book(("ann", "I am Ann."))}),
    Mistake("a workbook that is none", f"{IMPORT} a.xlsx", "save the sheet as .csv", {"a.xlsx": "id,text\n"}),
    Mistake("an unclosed quote", f"{IMPORT} a.csv", "quotes in pairs", {"a.csv": 'id,text\na,"Hello.\nb,Bye.\n'}),
    Mistake("judgments as essays", f"{IMPORT} j.csv", "--judgments", {"j.csv": JUDGMENTS}),
    Mistake("Excel's decisions as essays", f"{IMPORT} d.csv", "--decisions",
            {"d.csv": b"\xef\xbb\xbf" + DECISIONS.replace(",", ";").encode()}),
    Mistake("essays as items", f"{IMPORT} --items e.csv", "start=NAME", {"e.csv": "id,text\na,Hello.\n"}),
    Mistake("an annotated corpus as judgments", f"{IMPORT} --judgments a.m2", ".csv", {"a.m2": M2}),
    Mistake("decisions before their items", f"{IMPORT} --decisions d.csv", "import its items first",
            {"d.csv": DECISIONS.replace("one", "two")}),
    Mistake("decisions with places, not given as items", f"{IMPORT} --decisions d.csv", "as items, too",
            {"d.csv": "item,essay,start,end,kind,system,flagged\ntwo,first,3,9,verb,S,1\n"}),
    Mistake("an item beyond its essay", f"{IMPORT} --items i.csv", "26 characters",
            {"i.csv": ITEMS.replace("12", "99")}),
    Mistake("an item of an essay that is not there", f"{IMPORT} --items i.csv", "import its corpus first",
            {"i.csv": ITEMS.replace("first", "second")}),
    Mistake("flags in words", f"{IMPORT} --decisions d.csv", "0, 1, true or false",
            {"d.csv": DECISIONS.replace(",1", ",yes")}),
    Mistake("a column per rater", f"{IMPORT} --judgments j.csv", "--rater-columns",
            {"j.csv": "item,Ada,Bo\none,ok,error\n"}),
    Mistake("a misspelt column", f"{IMPORT} --judgments j.csv", "label=lable",
            {"j.csv": JUDGMENTS.replace("label", "lable")}),
    Mistake("labels 0 and 1 for a job that asks for error and ok", f"{IMPORT} --judgments j.csv --job errors",
            "error, ok, unknown", {"j.csv": JUDGMENTS.replace("ok", "0")}),
    Mistake("a rater twice on one item", f"{IMPORT} --judgments j.csv", "lines 2, 3",
            {"j.csv": f"{JUDGMENTS}one,Ada,error\n"}),
    Mistake("judgments of another job's items", f"{IMPORT} --judgments j.csv --job errors", "--job",
            {"j.csv": JUDGMENTS.replace("one", "two")}),
    Mistake("a worksheet that nobody filled in", f"{IMPORT} --judgments j.csv", "answers in the column label",
            {"j.csv": "item,sentence,answers,label\none,We waited,error | ok,\n"}),
    Mistake("a sample of other items", f"{IMPORT} --sample s.csv", "import its items first",
            {"s.csv": "item,stratum,probability\ntwo,flagged,0.5\n"}),
    Mistake("gold without a job", f"{IMPORT} --gold g.csv", "job", {"g.csv": "item,label\none,error\n"}),
    Mistake("a table in Latin-1", f"{IMPORT} --judgments j.csv", "UTF-8",
            {"j.csv": JUDGMENTS.replace("Ada", "Zoë").encode("latin-1")}),
    Mistake("an old workbook", f"{IMPORT} --judgments j.xls", "save the sheet as .csv", {"j.xls": b"\xd0\xcf\x11"}),
    Mistake("one file twice", f"{IMPORT} a.txt a.txt", "named twice", {"a.txt": TEXT}),
    Mistake("study and file swapped", "study import a.txt study.db", "grater study new", {"a.txt": TEXT}),
    Mistake("a table for a study", "study status j.csv", "grater study new", {"j.csv": JUDGMENTS}),
    Mistake("a study that is not there", "study import stduy.db a.txt", "grater study new", {"a.txt": TEXT}),
    Mistake("a worksheet of no job", "job units study.db --worksheet s.csv", "a job or a sample"),
    Mistake("a worksheet of a job that there is not", "job units study.db eror --worksheet s.csv", "errors"),
    Mistake("a worksheet of another type", "job units study.db errors --worksheet s.docx", ".xlsx"),
)  # fmt: skip

FILES = {
    "first.txt": TEXT,
    "ref.m2": M2,
    "h.txt": "We waited for it .\n",
    "p.sgml": "<p>\n",
    "empty.m2": "",
    "empty.txt": "",
    "docs.txt": "a\nb\n",
    "j.csv": "item,rater,label\n"
    + "".join(f"i{n},{rater},{'ok' if n % 3 else 'error'}\n" for n in range(8) for rater in ("Ada", "Bo", "Cy")),
    "d.csv": "item,system,flagged\n" + "".join(f"i{n},S,{n % 2}\n" for n in range(8)),
}
WORDS = """
corpus stat => no such command 'stat'. Did you mean 'stats'? Try 'grater corpus --help'
corpus stats => grater corpus stats: missing argument 'FILE...'. Try 'grater corpus stats --help'
corpus stats --by a --by b x.m2 => --by takes one value, found 2
plan --recall 0.4 --recall 0.5 => --recall takes one value, found 2
plan --recall 40 => a recall between 0 and 1
plan --width five => is not a number
plan => --missed or --recall, or --decisions
plan --recall 0.4 --judge-skill 0.8 => as in 0.8,0.95
plan --recall 0.4 --judge-skill good => expected numbers for --judge-skill
plan --missed 0.1 --recall 0.5 => expected either recall or missed
plan --recall 0.5 --flag-rate 1 => expected a flag rate between 0 and 1
plan --recall 0.5 --width 0 => expected a width between 0 and 1
plan --recall 0.01 => expected a rate of missed errors between 0 and 1
plan --recall 0.5 --items-per-hour 0 => above 0
evaluate --decisions d.csv --judgments j.csv --truth majorty => Did you mean 'majority'?
evaluate --decisions d.csv --judgments j.csv --units essya => unknown column 'essya'
evaluate --judgments j.csv => missing option '--decisions'
evaluate --decisions d.csv --judgments j.csv --bins low,high => expected numbers for --bins
evaluate --decisions d.csv --judgments j.csv --width 10 => --width between 0 and 1
evaluate --decisions d.csv --judgments j.csv --constructions => --items with --constructions
evaluate --decisions d.csv --judgments j.csv --assist cheap.csv => no such file
evaluate --decisions d.csv --judgments j.csv --merge error => as in 0,1=error
evaluate --decisions d.csv --judgments j.csv --columns itm=one => Did you mean 'item'?
evaluate --decisions d.csv --judgments j.csv --sample j.csv => found a table of judgments
evaluate --decisions d.csv --judgments study.db => expected a table with extension .csv
evaluate --decisions d.csv --judgments j.csv --redundancy 2 => no time
compare --decisions d.csv --judgments j.csv --score f2 => 'f0.5'
compare --decisions d.csv --judgments j.csv => at least two systems to compare, found only S
agree j.csv j.csv => named twice
evaluate --decisions d.csv --decisions ./d.csv --judgments j.csv => named twice
evaluate --decisions d.csv --judgments j.csv --judgments j.csv => named twice
raters --needed j.csv --experts j.csv => named twice
agree j.csv --weights linar => 'identity', 'linear', 'quadratic'
agree j.csv --compare Ada:Bo => A,B:C,D
agree j.csv --by nothing => unknown column 'nothing'
agree j.csv --label-order ok => no place for error
agree j.csv --ok fine => Known: error, ok
agree j.csv --min-confidence high => is not a number
agree j.csv --min-confidence 0.5 => name it with --columns
agree j.csv --gaps => --gaps is for annotated corpora
agree ref.m2 --merge error=bad => --merge is for tables of judgments
agree ref.m2 --raters random => --raters is for tables of judgments
agree j.csv --scale interval => expected numbers as labels
agree --judgments j.csv => no such option: --judgments
aggregate j.csv --method majorty => Did you mean 'majority'?
aggregate j.csv --out answers => expected a table with extension
aggregate j.csv --iterations 0 => expected iterations of at least 1
aggregate j.csv --columns item=nothing => nothing
raters j.csv --gold d.csv => found a table of decisions
sample d.csv --system S --n 3000 --out s.csv => from 4 to 8 items
sample d.csv --system T --n 4 --out s.csv => Known: S
sample d.csv --system S --n ten --out s.csv => is not a whole number
sample d.csv --system S --n 4 => missing option '--out'
sample d.csv --system S --n 4 --out s.csv --rate flagged => --rate STRATUM=RATE
sample d.csv --system S --n 4 --out s.csv --worksheet w.csv => expected --essays CORPUS with --worksheet
sample d.csv --system S --n 4 --flagged 5 --out s.csv => from 0 to 4 flagged items
score h.txt ref.m2 => before correction: --source
score ref.m2 h.txt --metric bleu => Did you mean 'gleu'?
score ref.m2 h.txt --by main => --by is for --metric errant
score ref.m2 h.txt --baseline theirs => to be one of h
score ref.m2 d.csv => write the sentences to a text file first
score ref.m2 p.sgml => expected one sentence per line or M2, found a corpus
score ref.m2 => expected a reference and at least one hypothesis
score ref.m2 absent.txt => absent.txt: cannot be read: No such file
score . h.txt => .: cannot be read: Is a directory
score empty.m2 empty.txt => empty.m2: expected sentences to score, found none
score - - => expected standard input in one place, found '-' in several
score ref.m2 a=- b=- => expected standard input in one place, found '-' in several
score - h.txt --source - => expected standard input in one place, found '-' in several
score ref.m2 h.txt --seed x => 'x' is not a whole number
score ref.m2 first.txt --hyp h.txt --metric gleu => found both
score ref.m2 h.txt --source first.txt => leave out --source
score ref.m2 h.txt --beta -1 => a beta above 0
score ref.m2 h.txt --documents docs.txt => docs.txt: expected the documents of 1 sentence
score ref.m2 h.txt --documents j.csv => expected a column 'document', found item
score ref.m2 h.txt --units document => do not name their documents; pass --documents
score ref.m2 h.txt --decisions d.csv => no such option: --decisions
score ref.m2 --ceiling => two annotators or more
score ref.m2 --ceiling --references two => expected numbers for --references
corpus stats j.csv => found a table of judgments
corpus stats study.db => name the format
corpus convert ref.m2 => found no OUT
corpus lint ref.m2 --only duplicates => duplicate,
corpus judgments ref.m2 --decisions d.csv --tags "" --out o.csv => --tags TAG or TAG,TAG
corpus judgments ref.m2 --decisions d.csv --tags Prep --out d.csv => d.csv named twice
corpus judgments ref.m2 --decisions d.csv --tags Prep --out ref.m2 => named twice
decide first.txt --system magic:wand --out o.csv => unknown system 'magic:wand'
decide first.txt --system corrected --out o.csv => expected corrected:SOMETHING, found 'corrected' alone
decide first.txt --system command:cat --out o.csv => expected a JSON line {"essay": ID, "edits": [...]}
decide first.txt --system contxt --out o.csv => Did you mean 'context'?
decide first.txt --system prep-maxent --out first.txt => named twice
decide first.txt --system prep-maxent --out o.csv --master local => --engine spark with --master
check ref.m2 => grater decide ref.m2
check first.txt --precision 2 => from 0.5 to 0.95
report --judgments j.csv --figures gif => Known: svg, png, pdf
raters --needed j.csv => either --experts or --gold
lab choice j.csv --accuracy 70 => 0<=x<=1
lab choice j.csv --words d.csv => --decisions and --words together
lab choice j.csv --decisions d.csv => --decisions and --words together
lab choice j.csv --decisions d.csv --words d.csv --accuracy .5 => --decisions and --words together
raters j.csv --draws 5 => --draws is for --needed
score ref.m2 h.txt --ceiling --html p.html => --html is not for --ceiling
lab recall j.csv => expected --fates FILE
lab simulat => Did you mean 'simulate'?
lab simulate --judgments-per-item 20 --out s.csv => at least 20 raters
lab simulate --labels a --out s.csv => two labels
lab simulate --prevalence much,little --out s.csv => expected numbers for --prevalence
lab mine first.txt --text h.txt --out l.csv --balanced => expected --balanced and --verdicts LIST together
lab mine first.txt --text h.txt --out l.csv --model m.model => expected one source of counts
lab recall j.csv --remaining => expected remaining, found a table of judgments
raters d.csv => expected judgments, found a table of decisions
prefer j.csv => expected rankings, found a table of judgments
agree j.csv --raters Ada,Bo => is not one of 'these', 'random'
corpus stats s4://bucket/essays.jsonl => cannot be opened: Unsupported filesystem
decide first.txt --system chat:localhost#m --out o.csv => as in https://HOST/v1
study sample study.db --system S => expected --n
study adjudicate study.db => expected --job NAME
study export study.db . => new or empty folder
study export study.db /nowhere/at/all => there is no folder
study restore nowhere.zip other.db => nowhere.zip: cannot be unpacked: No such file
study new study.db => already exists
study backup study.db study.db => already exists
study audit study.db --since yesterday => a day as 2026-11-16
study report study.db --job eror => Did you mean 'errors'?
job new study.db => expected --task TASK, or --design DESIGN
job new study.db --task eror => Did you mean 'error'?
job new study.db --task choice => no system has decisions on the essays yet
job new study.db --task error --name errors => choose another name
job close errors study.db => errors: no such study
job terms study.db errors --change pay=5 => --change: expected a JSON object
job gold study.db errors => 2 or more expert judgments
people invite study.db --role boss => 'owner', 'manager'
people invite study.db --back Nobody => unknown person 'Nobody'
people token study.db Nobody => unknown person 'Nobody'
judge study.db => --endpoint URL and --model-name NAME
judge study.db --endpoint http://localhost:1/v1 => expected --command LINE
judge study.db --endpoint localhost --model-name m => expected the address of an endpoint
judge study.db --endpoint http://localhost:1 --model-name m --key-env NO_SUCH_KEY => variable NO_SUCH_KEY
judge study.db --endpoint http://localhost:1 --model-name m --most-cost 1 => needs the prices
serve study.db --processes 2 => PostgreSQL
"""
"""Commands on these files with wrong values, swapped arguments or other commands' options; what the answer says."""
MISTAKES += tuple(Mistake(command, command, words, FILES) for command, words in re.findall("(.+) => (.+)", WORDS))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("study")
    (folder / "first.txt").write_text(TEXT)
    (folder / "items.csv").write_text(ITEMS)
    with new_study(str(folder / "study.db"), name="A study") as store:
        import_files(store, corpora=[folder / "first.txt"], items=[folder / "items.csv"])
        add_job(store, NewJob(name="errors", task="error"))
    return (folder / "study.db").read_bytes()


def sizes() -> list[int]:
    with closing(sqlite3.connect("study.db")) as connection:
        tables = ("essays", "items", "decisions", "samples", "jobs", "people", "submissions", "imports")
        return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_answered_with_what_to_do(
    mistake: Mistake, study: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {name: text.encode() if isinstance(text, str) else text for name, text in mistake.files.items()}
    for name, content in {"study.db": study, **files}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content)
    before = sizes()
    ran = grater(capsys, *shlex.split(mistake.command))
    assert (ran.status, ran.out) == (2, ""), ran
    (line,) = ran.err.splitlines()
    assert mistake.words in line
    assert sizes() == before
    assert {name: Path(name).read_bytes() for name in files} == files
