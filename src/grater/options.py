"""The options of functions and commands: what each is called, what it means, and which values it takes.

An option is described once, with its type: `Seed = Annotated[int, Opt("Random seed.", min=0)]`.  Functions of
`grater.api` use these names in their signatures; `grater.cli.command` makes commands of the signatures.  Options that
many functions share come as a TypedDict, for `**options: Unpack[Reading]`, and `described` adds them to the signature
like all others.  The values of some options are names of a `Registry`: formats, systems, tasks, methods, scores.
Nothing here imports what it describes, so help is quick.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from grater.errors import UnknownName, UsageError, unknown
from grater.model import Essay, Variant

if TYPE_CHECKING:
    from grater.uncertainty import Basis

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Opt:
    """The meaning of an option; `flag` is its name on the command line where that is not the argument's.

    `several` files are combined, and a text is `split` at commas.  `parse` and `names` are `module:name`: what makes
    the value of the words on the command line, and where its possible values are listed.  An output file may not be
    an input; no file is named twice, unless it `repeats`.  A command may have `needed` what a function does not.
    `default` is for members of a TypedDict, whose values a signature cannot hold.
    """

    help: str
    metavar: str = ""
    flag: str = ""
    min: float | None = None
    max: float | None = None
    several: bool = False
    split: bool = False
    parse: str = ""
    names: str = ""
    writes: Literal["", "table", "file", "folder"] = ""
    repeats: bool = False
    needed: bool = False
    default: Any = None


TableSource: TypeAlias = Any
"""A path, a frame of pandas, polars or Arrow, a table that was read before, or a list of these, combined."""

EssaySource: TypeAlias = Path | str | Iterable[Essay]
"""A path of a corpus in any format, or essays."""

OutPath: TypeAlias = Path | str | None
"""A file or folder to write, where one is wanted."""

# Options by name; one that means the same in several functions is here once.

JudgmentTables: TypeAlias = Annotated[TableSource, Opt("Judgments of raters.", "FILE", several=True)]
DecisionTables: TypeAlias = Annotated[TableSource, Opt("Decisions of systems.", "FILE", several=True)]
ItemTable: TypeAlias = Annotated[
    TableSource | None, Opt("A table of items, for their places and other columns.", "FILE")
]
SampleTable: TypeAlias = Annotated[
    TableSource | None, Opt("The sample from which the judged items were drawn.", "FILE")
]
GoldTable: TypeAlias = Annotated[TableSource | None, Opt("Items with known answers.", "FILE")]
ExpertTable: TypeAlias = Annotated[
    TableSource | None, Opt("Judgments of experts; a rater called 'writer' is the writer.", "FILE", several=True)
]
LabelTable: TypeAlias = Annotated[TableSource | None, Opt("One cheap label per item, for --strata label.", "FILE")]
EssayFiles: TypeAlias = Annotated[EssaySource, Opt("The corpus with the items.", "CORPUS", several=True)]
SystemName: TypeAlias = Annotated[str, Opt("The name of a system.", "NAME", names="grater.detect.systems:SYSTEMS")]
SystemNames: TypeAlias = Annotated[
    Sequence[str],
    Opt(
        "A detector, a model file or an external system; NEW=NAME renames it; repeatable.",
        "NAME",
        flag="--system",
        names="grater.detect.systems:SYSTEMS",
    ),
]
Precision: TypeAlias = Annotated[float | None, Opt("Target precision, .5 to .95, for calibrated systems.", "SHARE")]
Language: TypeAlias = Annotated[
    Variant | None, Opt("The variant of English whose spelling is expected; default: any.")
]
Seed: TypeAlias = Annotated[int, Opt("Random seed.", min=0, default=0)]
FORMAT = Opt(
    "Corpus format: bea, brat, fce, jsonl, m2, nucle, table or text; default: by file name.",
    "FORMAT",
    flag="--format",
    names="grater.corpora.formats:FORMATS",
)
FormatName: TypeAlias = Annotated[str | None, FORMAT]
HowIntervals: TypeAlias = Annotated[
    Literal["jackknife", "bootstrap"], Opt("How intervals are computed.", default="jackknife")
]
Resamples: TypeAlias = Annotated[int, Opt("Resamples of a bootstrap or randomisation.", min=1, default=1000)]
Documents: TypeAlias = Annotated[
    TableSource | None, Opt("The documents of sentences: SGML, a table or an id per line.", "FILE")
]
KindName: TypeAlias = Annotated[str, Opt("Only items of this kind.", "KIND", default="")]
BY = "Show results for each value of a column."
ByColumns: TypeAlias = Annotated[Sequence[str], Opt(BY, "COLUMN", split=True)]
Flags: TypeAlias = Annotated[Sequence[str], Opt("Separate items with these flags.", "FLAG,FLAG", split=True)]
UnknownLabels: TypeAlias = Annotated[
    Literal["drop", "ok", "apart"], Opt("Judgments 'unknown': drop, count as ok, or show separately.", default="drop")
]
Truth: TypeAlias = Annotated[
    str, Opt("What counts as true.", "share|majority|dawid-skene|adjudicated|rater:NAME", default="majority")
]
REDUNDANCY = Opt("Use the first N judgments of each item; 0: all.", "N", min=0, default=0)
DROP_FLAGS = Opt("Ignore judgments with this flag; repeatable.", "FLAG", split=True, default=())
MIN_CONFIDENCE = Opt("Ignore less confident judgments; low is 0, high 1.", "NUMBER")
STRATA = "How to stratify: decision, type, score:N, type+score:N or, for tables, label."
Strata: TypeAlias = Annotated[str | None, Opt(STRATA)]
Allocation: TypeAlias = Annotated[
    Literal["equal", "paper", "proportional", "neyman"] | None,
    Opt("How to allocate N to the strata; default: paper."),
]
NumberDrawn: TypeAlias = Annotated[int | None, Opt("Number of items or units to draw.", "N", min=1)]
NumberFlagged: TypeAlias = Annotated[int | None, Opt("Number of flagged items in the sample.", "N", min=0)]
Rates: TypeAlias = Annotated[
    Mapping[str, float] | Literal["score"] | None,
    Opt(
        "Expected error rate of a stratum, or 'score'.",
        "STRATUM=RATE",
        flag="--rate",
        parse="grater.options:parse_rates",
    ),
]
Renamed: TypeAlias = Annotated[
    Mapping[str, str] | None,
    Opt("Rename a column of that table.", "OURS=THEIRS", parse="grater.tables:parse_columns"),
]
WIDTH = Opt("Target width of the 95 % interval for recall.", "WIDTH")
Width: TypeAlias = Annotated[float | None, WIDTH]
UnitsOfText: TypeAlias = Annotated[
    Literal["auto", "sentence", "document"], Opt("The independent units of intervals.", default="auto")
]
RatersMeant: TypeAlias = Annotated[
    Literal["these", "random"], Opt("Intervals for these raters, or others like them.", default="these")
]
PopulationName: TypeAlias = Annotated[
    Literal["wider", "these"], Opt("Intervals for essays like these, or for these items.", default="wider")
]
EngineName: TypeAlias = Annotated[
    str, Opt("Extractor of edits from plain text: grater or errant:MODEL.", "NAME", default="grater")
]
Earlier: TypeAlias = Annotated[
    Mapping[str, str] | None,
    Opt("OLD is an earlier version of NEW.", "NEW=OLD", parse="grater.reporting.versions:parse_versions"),
]
Headline: TypeAlias = Annotated[
    OutPath, Opt("Write the first figure alone: FILE.svg, FILE.png or FILE.pdf.", "FILE", writes="file")
]
FigureTypes: TypeAlias = Annotated[
    Sequence[str], Opt("Type of figure: svg, png or pdf; repeatable; default: all three.", "TYPE")
]
TextLines: TypeAlias = Annotated[bool, Opt("Read each line of a text file as an essay.")]
StudyName: TypeAlias = Annotated[str, Opt("A file (SQLite) or a postgresql:// URL.", "STUDY")]
JobNames: TypeAlias = Annotated[Sequence[str], Opt("Only judgments of these jobs.", "NAME", flag="--job")]
Columns: TypeAlias = Annotated[
    Mapping[str, str] | None, Opt("Rename a column; repeatable.", "OURS=THEIRS", parse="grater.tables:parse_columns")
]
RaterColumns: TypeAlias = Annotated[
    Sequence[str], Opt("Columns of labels, one per rater.", "NAME,NAME", split=True, default=())
]
Duplicates: TypeAlias = Annotated[
    Literal["error", "first", "last"], Opt("What to do if a rater judged an item twice.", default="error")
]
WorksheetTask: TypeAlias = Annotated[str, Opt("The task of the worksheet: error, usage or verify.", "TASK")]
AsJson: TypeAlias = Annotated[bool, Opt("Print JSON.", flag="--json")]


class Reading(TypedDict, total=False):
    """Which judgments count, and how tables are read."""

    columns: Columns
    merge: Annotated[
        Mapping[str, str] | None,
        Opt("Merge labels, as in 0,1=error.", "OLD,OLD=NEW", parse="grater.tables:parse_merge"),
    ]
    drop_flags: Annotated[Sequence[str], DROP_FLAGS]
    min_confidence: Annotated[float | None, MIN_CONFIDENCE]
    status: Annotated[
        Sequence[str], Opt("Use only judgments with this status, or 'all'.", "STATUS", split=True, default=("valid",))
    ]
    duplicates: Duplicates
    rater_columns: RaterColumns


class Resampling(TypedDict, total=False):
    """How intervals are computed."""

    units: Annotated[
        str, Opt("The independent units of intervals.", "auto|item|essay|document|COLUMN", default="auto")
    ]
    interval: HowIntervals
    resamples: Resamples
    seed: Seed


class Intervals(Resampling, total=False):
    """The basis of intervals."""

    raters: RatersMeant


class Generalising(Intervals, total=False):
    """Intervals of evaluation, where the population can be exactly the items at hand."""

    population: PopulationName


class ReadingAndResampling(Reading, Resampling, total=False):
    """The options of functions that read judgments and print intervals."""


class ReadingAndIntervals(Reading, Intervals, total=False):
    """The same, and what the intervals generalise to."""


class Evaluating(Reading, Generalising, total=False):
    """The options of evaluation, of one system or of several compared."""

    sample: SampleTable
    weighted: Annotated[bool, Opt("Weight scores by the share of raters who see an error.", default=False)]
    truth: Truth
    items: ItemTable
    gold: GoldTable
    documents: Documents
    kind: KindName
    missing: Annotated[Literal["absent", "not-flagged"], Opt("The meaning of an unlisted item.", default="absent")]
    by: Annotated[str, Opt(BY, "COLUMN", default="")]
    unknown: UnknownLabels
    assist: Annotated[
        TableSource | str | None, Opt("A cheap judge of every item: judgments or a column.", "FILE|COLUMN")
    ]
    stratum_labels: LabelTable
    redundancy: Annotated[int, REDUNDANCY]


class Scoring(TypedDict, total=False):
    """How corrections are scored, and the basis of their intervals."""

    metric: Annotated[str, Opt("How corrections are scored.", "m2|errant|cleme|gleu", default="m2")]
    source: Annotated[TableSource | None, Opt("The sentences before correction.", "FILE")]
    tokenise: Annotated[bool, Opt("Tokenise plain text like the references.", default=False)]
    mode: Annotated[Literal["cs", "cse", "ds", "dt"], Opt("errant: what must match in two edits.", default="cs")]
    beta: Annotated[float, Opt("Weight of recall relative to precision.", default=0.5)]
    max_unchanged: Annotated[int, Opt("m2: unchanged words allowed in an edit.", min=0, default=2)]
    engine: EngineName
    documents: Documents
    units: UnitsOfText
    interval: HowIntervals
    resamples: Resamples
    seed: Seed


class Chatting(TypedDict, total=False):
    """How to query a chat endpoint, and the limits of cost."""

    key_env: Annotated[str, Opt("The environment variable with the endpoint's key.", "VAR", default="")]
    per_minute: Annotated[float | None, Opt("Maximum requests per minute.", min=0.01)]
    most_requests: Annotated[int | None, Opt("Maximum requests; 0: answer from the cache alone.", min=0)]
    most_tokens: Annotated[int | None, Opt("Maximum tokens to use.", min=1)]
    most_cost: Annotated[float | None, Opt("Maximum cost.", min=0)]
    price_in: Annotated[float, Opt("Price per million input tokens.", min=0, default=0.0)]
    price_out: Annotated[float, Opt("Price per million output tokens.", min=0, default=0.0)]
    answer_tokens: Annotated[int | None, Opt("Maximum length of an answer, in tokens.", min=8)]
    timeout: Annotated[float, Opt("Seconds to wait for an answer.", min=0.1, default=60.0)]
    retries: Annotated[int, Opt("Retries after a failure.", min=0, default=5)]
    cache: Annotated[Path | None, Opt("The file of answers; default: NAME.answers.jsonl.", "FILE", writes="file")]


class Correcting(Chatting, total=False):
    """The same, for a system that corrects."""

    prompt: Annotated[
        str, Opt("Instructions for a chat system: minimal, fluent or a file.", "NAME|FILE", default="minimal")
    ]


class Simulating(TypedDict, total=False):
    """The raters of a simulated crowd, and their items."""

    n_items: Annotated[int, Opt("Number of items.", "N", min=1, default=100)]
    n_raters: Annotated[int, Opt("Number of raters.", "N", min=1, default=10)]
    labels: Annotated[
        Sequence[str], Opt("The labels to choose from.", "LABEL,LABEL", split=True, default=("error", "ok"))
    ]
    prevalence: Annotated[Sequence[float], Opt("Frequency of each label; default: equal.", "N,N", default=())]
    skill: Annotated[float, Opt("A skilled rater's mean chance of being right.", default=0.8)]
    spread: Annotated[float, Opt("Standard deviation of skill.", default=0.1)]
    spammers: Annotated[float, Opt("Share of raters who answer at random.", "SHARE", default=0.0)]
    biased: Annotated[float, Opt("Share of raters who prefer one label.", "SHARE", default=0.0)]
    lazy: Annotated[float, Opt("Share of raters who give one answer.", "SHARE", default=0.0)]
    turning: Annotated[float, Opt("Share of raters who turn spammers halfway.", "SHARE", default=0.0)]
    difficulty: Annotated[float, Opt("Mean share of guesses per item.", default=0.0)]


class Working(TypedDict, total=False):
    """Where a big corpus is processed."""

    jobs: Annotated[int | None, Opt("Number of processes; default: one per core for large input.", "N", min=1)]
    engine: Annotated[
        Literal["processes", "spark"],
        Opt("Run in processes on this machine, or on Apache Spark.", default="processes"),
    ]
    master: Annotated[str | None, Opt("The Spark master, as in spark://host:7077 or local[4].", "URL")]


class Deciding(Working, Correcting, total=False):
    """The options of systems that run over a corpus."""


def basis_of(options: Mapping[str, Any]) -> Basis:
    """The basis of intervals, from the options."""
    from grater.uncertainty import Basis  # numpy, which help need not wait for

    names = {"units": "units", "raters": "raters", "population": "population", "interval": "interval"}
    names |= {"resamples": "n_resamples", "seed": "seed"}
    return Basis(**{ours: options[name] for name, ours in names.items() if name in options})


def parse_rates(settings: Sequence[str]) -> dict[str, float] | str:
    """`["flagged=.8", "unflagged=.02"]` as numbers; `["score"]` as it is."""
    if list(settings) == ["score"]:
        return "score"
    rates = {}
    for setting in settings:
        name, equals, number = setting.rpartition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise UsageError(f"expected `rates` STRATUM=RATE, found {setting!r}; as in flagged=0.8")
    return rates


def require_different(paths: Iterable[Path]) -> None:
    """Refuse a path that is named twice: it would count twice, or be written over while it is needed."""
    seen: set[Path] = set()
    for path in paths:
        place = path if str(path) == "-" else Path(os.path.realpath(path))  # unlike `resolve`, fails at no path
        if place in seen:
            raise UsageError(f"expected different files, found {path} named twice")
        seen.add(place)


# Names of what can be chosen


class Registry(Generic[T]):
    """Published names of one kind of thing, `noun`, each with its place in the code: `"grater.corpora.m2:FORMAT"`.

    A thing is imported on first use, so that listing names costs nothing.  Third parties add names by entry points of
    the `group`; a name of ours cannot be taken over.
    """

    def __init__(self, noun: str, group: str, places: Mapping[str, str]) -> None:
        self.noun = noun
        self.group = group
        self._places = dict(places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> list[str]:
        return sorted(self._places_of_others.keys() | self._places.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._places_of_others

    def __getitem__(self, name: str) -> T:
        place = self._places.get(name) or self._places_of_others.get(name)
        if place is None:
            raise UnknownName(unknown(self.noun, name, self.names()))
        module, _, attribute = place.partition(":")
        return cast(T, getattr(import_module(module), attribute))

    @cached_property
    def _places_of_others(self) -> dict[str, str]:
        """Entry points do not change while we run; looking them up takes milliseconds."""
        from importlib.metadata import entry_points  # 35 ms, which a name of ours need not pay

        return {point.name: point.value for point in entry_points(group=self.group)}


# How arguments are called on the command line

named_as: dict[str, str] = {}
"""By parameter of the command that runs: its option."""


def typed(message: str) -> str:
    """A message of the library, with arguments as they are typed: `columns={"item": "x"}` is --columns item=x."""
    message = re.sub(r"`(\w+)=\{(.*?)\}`", lambda found: f"`{found[1]}` {_pairs(found[2])}", message)
    advice = re.compile(r"(?:; pass it as|, or name its) `(\w+)`")  # only where the command has the option
    message = advice.sub(lambda found: found[0] if found[1] in named_as else "", message)
    return re.sub(r"`(\w+)`", lambda found: named_as.get(found[1], found[0]), message)


def _pairs(dictionary: str) -> str:
    return dictionary.replace('": ', "=").replace('"', "").replace(", ", ",")


# Signatures


def parts_of(annotation: Any) -> tuple[Any, Opt | None]:
    """The plain type of an annotation, and its description."""
    if get_origin(annotation) is Annotated:
        plain, *notes = get_args(annotation)
        return plain, next((note for note in notes if isinstance(note, Opt)), None)
    inner, is_any = is_optional(annotation)  # Named | None
    return (
        (parts_of(inner)[0] | None, parts_of(inner)[1]) if is_any and inner is not annotation else (annotation, None)
    )


def is_optional(plain: Any) -> tuple[Any, bool]:
    """A type without its None, and whether it had one."""
    if get_origin(plain) not in (Union, UnionType) or NoneType not in get_args(plain):
        return plain, False
    rest = tuple(each for each in get_args(plain) if each is not NoneType)
    return rest[0] if len(rest) == 1 else Union[rest], True  # noqa: UP007


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with its types, aliases resolved, and the members of a TypedDict instead of `**options`."""
    original = inspect.unwrap(function)
    names = original.__globals__
    parameters = []
    for parameter in inspect.signature(original).parameters.values():
        text = parameter.annotation
        if parameter.kind is parameter.VAR_KEYWORD:
            shared = eval(text.removeprefix("Unpack[").removesuffix("]"), names)
            for name, annotation in get_type_hints(shared, include_extras=True).items():
                _, option = parts_of(annotation)
                default = option.default if option else None
                kind = parameter.KEYWORD_ONLY
                parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        else:
            with suppress(NameError):  # a type that is imported for type checking alone
                parameter = parameter.replace(annotation=eval(text, names) if isinstance(text, str) else text)
            parameters.append(parameter)
    return inspect.Signature(parameters, return_annotation=inspect.signature(original).return_annotation)


def _is_truth(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # numpy's too, without numpy


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not _is_truth(value)


def _are(value: object, kind: Callable[[object], bool]) -> bool:
    """Whether a value is an iterable other than a string; only the members of lists are checked."""
    is_one = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    return not is_one and (not isinstance(value, list | tuple) or all(map(kind, value)))


EXPECTED: Mapping[Any, tuple[str, Callable[[object], bool]]] = {
    bool: ("True or False", _is_truth),
    int: ("a whole number", lambda value: isinstance(value, Integral) and not _is_truth(value)),
    float: ("a number", _is_number),
    str: ("text", lambda value: isinstance(value, str)),
    Sequence[str]: ("a list of texts", lambda value: _are(value, lambda each: isinstance(each, str))),
    Sequence[float]: ("a list of numbers", lambda value: _are(value, _is_number)),
    Mapping[str, str]: ("a dictionary", lambda value: isinstance(value, Mapping)),
    Mapping[str, float]: ("a dictionary", lambda value: isinstance(value, Mapping)),
}
"""The expected values of an option by its type, and whether a value is one of them."""


def described(function: Callable[P, T]) -> Callable[P, T]:
    """The function with its full signature; a value of the wrong type is refused before it fails inside."""
    full = signature_of(function)
    plain = {name: is_optional(parts_of(each.annotation)[0]) for name, each in full.parameters.items()}
    expected = {name: (*EXPECTED[kind], optional) for name, (kind, optional) in plain.items() if kind in EXPECTED}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name, value in options.items():
            if name not in full.parameters:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            words, will_do, optional = expected.get(name, ("", bool, True))
            if words and not will_do(value) and not (value is None and optional):
                raise UsageError(f"{name}: expected {words}, found {value!r}")
        return function(*args, **options)

    shown = [each.replace(annotation=parts_of(each.annotation)[0]) for each in full.parameters.values()]
    call.__signature__ = full.replace(parameters=shown)  # type: ignore[attr-defined]
    call.is_described = True  # type: ignore[attr-defined]
    return call
