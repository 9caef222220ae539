"""Preference: which of several corrections people prefer, from rankings with ties.

*Expected wins* (Koehn 2012; Grundkiewicz, Junczys-Dowmunt & Gillian 2015, section 4): a system's score is the mean
over its opponents of wins / (wins + losses). Identical outputs form one candidate for all their systems. Ties are
left out, and so are pairs of systems without a decided comparison, which are listed.

*Davidson* (1970), Bradley-Terry with ties: systems i and j with scores t_i and t_j win, lose and tie as exp(t_i) to
exp(t_j) to nu exp((t_i + t_j) / 2); scores sum to 0. Identical outputs are left out, since as ties they would distort
the model. Newton's method maximises the log-likelihood, which is concave; one further step approximates the effect of
leaving out a unit. Scores are finite for systems connected by wins or ties in both directions, and undefined for the
others.

Intervals and tests are those of `grater.uncertainty`; units are documents if known, else sentences, since several
rankings of a sentence and the pairs of one ranking are not independent. If all rankings agree, a share of comparisons
has as many cases as there are rankings. For other judges like these, V = V_sentences + V_judges - V_cells (rule 7).
Groups are letters after Holm's correction over all pairs; a system's rank lies between 1 + the number significantly
better and S - the number significantly worse. `published-pairs` is the published method, which treats every pair of
systems in a ranking as independent; on GJG15 its standard errors are .29 of the correct ones.

*Agreement* of judges concerns pairs of candidates for one sentence, each better, worse or a tie. Alpha treats better
and worse as equally likely by chance, since the order of the two systems is arbitrary. Kappa is the published one:
observed label shares, systems in order of name, and the mean over pairs of judges (or over judges who saw a pair
twice), weighted by comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.metrics_and_people import MetricsAndPeople, Scores, metrics_and_people
from grater.model import Essay, Interval
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, key
from grater.sheet import (
    Sheet,
    Signature,
    count,
    counted,
    digest,
    interval,
    number,
    p_value,
    undefined_notes,
    with_notes,
)
from grater.tables.rankings import CANDIDATE, RANKING, Rankings
from grater.uncertainty import (
    SENTENCES,
    Basis,
    Influence,
    Ints,
    Numbers,
    PairTest,
    Rare,
    Scope,
    Units,
    coefficient,
    difference,
    grouped_rows,
    influence,
    paired_tests,
    rank_groups,
    ratio,
    share,
    shares_by_unit,
    with_raters,
)

How: TypeAlias = Literal["jackknife", "published-pairs"]
INDEPENDENT_PAIRS = (
    "pairs taken as independent: intervals are too narrow, and equal systems fall into different groups"
)
NOT_CONNECTED = "no finite score: it always wins, or always loses, against the others"
STEPS = 100
MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Every two systems of every ranking: `outcome` is 1 if the first is better, -1 if the second is, 0 for a tie.

    Systems are in order of name. `items`, `raters` and `documents` are codes by ranking; a sentence whose document is
    unknown is a separate document.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    ranking: Ints
    first: Ints
    second: Ints
    outcome: Ints
    identical: Ints
    one_of_candidates: Ints
    item_of: Ints
    rater_of: Ints
    document_of: Ints | None

    @property
    def n_systems(self) -> int:
        return len(self.systems)

    def units(self, unit: str) -> Ints:
        """The unit of each ranking: its sentence, document or judge, or a judge's work on a sentence or document."""
        own = self.document_of if unit.startswith("document") and self.document_of is not None else self.item_of
        if unit == "rater":
            return self.rater_of
        return (
            np.unique(own * len(self.raters) + self.rater_of, return_inverse=True)[1] if "of rater" in unit else own
        )


def comparisons_of(rankings: Rankings) -> Comparisons:
    frame = rankings.frame
    systems = tuple(sorted(frame["system"].drop_nulls().unique().to_list()))
    raters = tuple(sorted(frame["rater"].unique().to_list()))
    codes = {name: at for at, name in enumerate(systems)}
    by_ranking = frame.unique(RANKING, keep="first", maintain_order=True).with_row_index("at")
    rows = (
        frame.filter(pl.col("system").is_not_null())
        .join(by_ranking.select(RANKING, "at"), on=RANKING)
        .select("at", CANDIDATE, "rank", code=pl.col("system").replace_strict(codes, return_dtype=pl.Int64))
    )
    pairs = rows.join(rows, on="at", suffix="_2").filter(pl.col("code") < pl.col("code_2"))
    leads = pl.col("code").min().over("at", CANDIDATE)
    leading = rows.filter(pl.col("code") == leads).select("at", "code", is_first=True)
    pairs = pairs.join(leading, on=["at", "code"], how="left").join(
        leading.rename({"code": "code_2", "is_first": "is_second"}), on=["at", "code_2"], how="left"
    )
    is_identical = pl.col(CANDIDATE) == pl.col(f"{CANDIDATE}_2")
    columns = pairs.select(
        pl.col("at", "code", "code_2").cast(pl.Int64),
        outcome=(pl.col("rank_2") - pl.col("rank")).sign().cast(pl.Int64),
        identical=is_identical.cast(pl.Int64),
        leading=(pl.col("is_first") & pl.col("is_second") & ~is_identical).fill_null(False).cast(pl.Int64),
    )
    item = _codes(by_ranking["item"])
    document = None
    if "document" in frame.columns and by_ranking["document"].null_count() < len(by_ranking):
        document = _codes(by_ranking.select(pl.coalesce("document", pl.format("\0{}", "item")))["document"])
    ranking, first, second, outcome, identical, one = (columns[name].to_numpy() for name in columns.columns)
    return Comparisons(
        systems=systems,
        raters=raters,
        ranking=ranking,
        first=first,
        second=second,
        outcome=outcome,
        identical=identical,
        one_of_candidates=one,
        item_of=item,
        rater_of=by_ranking["rater"].replace_strict({name: at for at, name in enumerate(raters)}).to_numpy(),
        document_of=document,
    )


def _codes(names: pl.Series) -> Ints:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Wins (of the row's system over the column's) and ties between different outputs, by unit."""

    wins: Numbers
    ties: Numbers
    unit: str
    times: Numbers | None = None

    def units(self, rows: Numbers) -> Units:
        return Units(rows, self.unit, self.times)


def tally(found: Comparisons, unit: str) -> Tally:
    """The counts of each unit; `pair` makes every comparison a unit."""
    s = found.n_systems
    differ = found.identical == 0
    cells = [found.first * s + found.second, found.second * s + found.first]
    wins = np.where(found.outcome == 1, cells[0], cells[1])
    is_win, is_tie = found.outcome != 0, differ & (found.outcome == 0)
    if unit == "pair":
        n_wins, n_ties = np.bincount(wins[is_win], minlength=s * s), np.bincount(cells[0][is_tie], minlength=s * s)
        won, tied = np.flatnonzero(n_wins), np.flatnonzero(n_ties)
        eye, none = np.eye(s * s).reshape(-1, s, s), np.zeros((1, s, s))
        ties = eye[tied] + eye[tied].transpose(0, 2, 1)
        return Tally(
            np.concatenate([eye[won], none.repeat(len(tied), 0)]),
            np.concatenate([none.repeat(len(won), 0), ties]),
            unit,
            np.concatenate([n_wins[won], n_ties[tied]]).astype(np.float64),
        )
    of = found.units(unit)
    n_units, own = int(of.max()) + 1, of[found.ranking] * s * s

    def counts(*places: Ints) -> Numbers:
        total = sum(np.bincount(each, minlength=n_units * s * s) for each in places)
        return np.asarray(total, np.float64).reshape(n_units, s, s)

    return Tally(counts((own + wins)[is_win]), counts(*((own + each)[is_tie] for each in cells)), unit)


def expected_wins(counts: Tally, system: int) -> Influence:
    """The mean over opponents of the share of decided comparisons that the system wins."""
    s = counts.wins.shape[1]
    rows = np.concatenate([counts.wins[:, system, :], counts.wins[:, :, system]], axis=1)

    def score(sums: Numbers) -> Numbers:
        won, lost = sums[..., :s], sums[..., s:]
        decided = won + lost
        return ratio(
            np.divide(won, decided, out=np.zeros_like(won), where=decided > 0).sum(-1), (decided > 0).sum(-1)
        )

    return influence(counts.units(rows), score, rows.sum(axis=1))


def davidson(counts: Tally) -> tuple[list[Influence], float]:
    """The score of each system, nan if it is not finite, and the logarithm of nu."""
    times = np.ones(len(counts.wins)) if counts.times is None else counts.times
    wins, ties = (np.tensordot(times, each, 1) for each in (counts.wins, counts.ties))
    kept = _connected(wins + ties)
    n = len(kept)
    scores, log_nu, moved = np.full(len(wins), nan), nan, np.zeros((len(counts.wins), len(wins)))
    inner = np.ix_(kept, kept)
    if len(_connected(wins[inner])) > 1:  # wins in a circle bound nu, and so what ties say
        fitted, information = _newton(wins[inner], ties[inner])
        log_nu = float(fitted[-1]) if len(fitted) > n else nan
        scores[kept] = fitted[:n]
        by_unit = _gradient(counts.wins[:, kept][:, :, kept], counts.ties[:, kept][:, :, kept], fitted)
        moved[:, kept] = np.linalg.solve(information, by_unit.T).T[:, :n]
    unit_times = times.astype(np.float64)
    found = []
    for at in range(len(wins)):
        den = counts.wins[:, at].sum(1) + counts.wins[:, :, at].sum(1) + counts.ties[:, at].sum(1)
        found.append(Influence(float(scores[at]), moved[:, at], den, unit_times, counts.unit))
    return found, log_nu


def _connected(beats: Numbers) -> Ints:
    """The largest set of systems connected by wins and ties in both directions."""
    reach = (beats > 0) | np.eye(len(beats), dtype=bool)
    for _ in range(max(1, len(beats).bit_length())):
        reach = reach @ reach
    both = reach & reach.T
    return np.flatnonzero(both[both.sum(axis=1).argmax()])


def _chances(fitted: Numbers, n: int) -> tuple[Numbers, Numbers]:
    """The probabilities of a win and of a tie of the row's system against the column's."""
    half = np.exp((fitted[:n, None] - fitted[None, :n]) / 2)
    nu = np.exp(fitted[n]) if len(fitted) > n else 0.0
    below = half + 1 / half + nu
    return half / below, nu / below


def _gradient(wins: Numbers, ties: Numbers, fitted: Numbers) -> Numbers:
    """The gradient of the log-likelihood, for each unit in the first axis."""
    n = wins.shape[-1]
    win, tie = _chances(fitted, n)
    played = wins + wins.swapaxes(-1, -2) + ties
    slopes = (wins + ties / 2 - played * (win + tie / 2)).sum(axis=-1)
    if len(fitted) == n:
        return np.asarray(slopes)
    return np.concatenate([slopes, ((ties - played * tie).sum(axis=(-1, -2)) / 2)[..., None]], axis=-1)


def _newton(wins: Numbers, ties: Numbers) -> tuple[Numbers, Numbers]:
    """The scores, then log nu if there are ties, and the information matrix with scores constrained to sum to 0."""
    n, has_ties = len(wins), bool(ties.any())
    fitted = np.zeros(n + has_ties)
    played = wins + wins.T + ties
    information = np.eye(len(fitted))
    for _ in range(STEPS):
        win, tie = _chances(fitted, n)
        points = win + tie / 2
        spread = played * (win + tie / 4 - points**2)
        information = np.zeros((len(fitted), len(fitted)))
        information[:n, :n] = np.diag(spread.sum(axis=1)) - spread + 1.0
        if has_ties:
            information[:n, n] = information[n, :n] = (played * tie * (0.5 - points)).sum(axis=1)
            information[n, n] = (played * tie * (1 - tie)).sum() / 2
        step = np.linalg.solve(information, _gradient(wins, ties, fitted))
        fitted = fitted + step * min(1.0, 2 / max(1e-300, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-10:
            break
    return fitted, information


@dataclass(frozen=True, slots=True)
class Ranked(Data):
    """A system, with the best and the worst rank it may have."""

    system: str
    expected_wins: Interval
    davidson: Interval
    rank_low: int
    rank_high: int
    group: str
    influence: Influence = field(repr=False, compare=False, metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class PreferencePair(Data):
    """How often the first of two systems was better, worse, equal and identical; the test of expected wins."""

    test: PairTest = field(metadata=FLAT)
    wins: int
    losses: int
    ties: int
    identical: int


@dataclass(frozen=True, slots=True)
class Judge(Data):
    """A rater's number of rankings, and the share of pairs of different outputs that this rater calls equal."""

    rater: str
    n: int
    tie_share: float


@dataclass(frozen=True, slots=True)
class JudgeAgreement(Data):
    """Alpha, and the published kappas between judges and within judges who ranked a sentence twice."""

    alpha: Interval
    between: float = field(metadata=key("kappa_between"))
    within: float = field(metadata=key("kappa_within"))
    n_pairs: int


@dataclass(frozen=True, slots=True, repr=False)
class Preference(Result):
    """Systems from the most to the least preferred, every pair of them, and the judges."""

    systems: tuple[Ranked, ...]
    pairs: tuple[PreferencePair, ...]
    agreement: JudgeAgreement
    judges: tuple[Judge, ...]
    n_units: int
    n: int = field(metadata=key("n"))
    scope: Scope
    signature: Signature = field(metadata=key(write=str))
    log_nu: float = nan
    metrics: MetricsAndPeople | None = field(default=None, metadata=OPTIONAL)
    warnings: tuple[str, ...] = ()

    def estimates(self) -> Iterator[Estimate]:
        """Expected wins and Davidson's score of each system, then the differences of expected wins."""
        for each in self.systems:
            yield {"system": each.system, "other": "", "score": "expected wins"}, each.expected_wins
            yield {"system": each.system, "other": "", "score": "davidson"}, each.davidson
        for pair in self.pairs:
            of = {"system": pair.test.first, "other": pair.test.second, "score": "expected wins"}
            yield of, pair.test.difference
        yield from self.metrics.estimates() if self.metrics else ()

    def sheets(self) -> list[Sheet]:
        rows = [
            (
                each.system,
                interval(each.expected_wins),
                interval(each.davidson, digits=2),
                str(each.rank_low) if each.rank_low == each.rank_high else f"{each.rank_low}–{each.rank_high}",
                each.group,
            )
            for each in self.systems
        ]
        title = f"{counted(len(self.systems), 'system')} in {counted(self.n, 'ranking')}, the most preferred first"
        has_groups = any(each.group for each in self.systems)
        notes = ["Systems that share a letter do not differ significantly (Holm, 95 %)."] if has_groups else []
        notes += undefined_notes(each for system in self.systems for each in (system.expected_wins, system.davidson))
        columns = ("", "expected wins", "Davidson", "rank", "group")
        systems = Sheet(title, columns, tuple(rows), tuple(notes), name="systems")
        sheets = [systems, *([self._pair_sheet()] if self.pairs else []), self._judge_sheet()]
        sheets += self.metrics.sheets() if self.metrics else []
        return with_notes(sheets, [self.scope.sentence], str(self.signature))

    def _pair_sheet(self) -> Sheet:
        rows = []
        for pair in self.pairs:
            judged = [pair.wins, pair.ties, pair.losses]
            shares = [number(each / sum(judged) if sum(judged) else nan) for each in judged]
            tested = (interval(pair.test.difference), p_value(pair.test.p_holm))
            counts = (count(pair.wins + pair.losses), count(pair.identical))
            rows.append((f"{pair.test.first} – {pair.test.second}", *shares, *counts, *tested))
        columns = ("", "better", "tie", "worse", "decided", "identical", "difference", "p")
        notes = undefined_notes(pair.test.difference for pair in self.pairs)
        title = "Pairs: shares of different outputs, and differences of expected wins; p after Holm"
        return Sheet(title, columns, tuple(rows), tuple(notes), name="pairs")

    def _judge_sheet(self) -> Sheet:
        rows = [(judge.rater, count(judge.n), number(judge.tie_share)) for judge in self.judges]
        of = self.agreement
        notes = [
            f"On which of two outputs is better, or neither, judges agree with alpha {interval(of.alpha)} "
            f"(kappa between judges {number(of.between)}, within judges {number(of.within)})."
        ]
        return Sheet(
            "Judges", ("", "rankings", "ties"), tuple(rows), (*notes, *undefined_notes([of.alpha])), name="judges"
        )


def preference(
    rankings: Rankings, *, units: str = "auto", raters: Literal["these", "random"] = "these", how: How = "jackknife"
) -> Preference:
    found = comparisons_of(rankings)
    if found.n_systems < 2 or not len(found.ranking):
        raise UsageError(f"{rankings.name}: expected rankings of at least two systems, found none")
    if units == "document" and found.document_of is None:
        raise UsageError("expected the documents of sentences for units document; pass `documents`")
    is_published = how == "published-pairs"
    if is_published and raters == "random":
        raise UsageError("expected raters these with interval published-pairs, which has no judges, found random")
    unit = "document" if found.document_of is not None and units != "sentence" else "sentence"
    n_units = len(np.unique(found.units(unit)))
    used = "pair" if is_published else unit
    counts = tally(found, used)
    scores = [expected_wins(counts, at) for at in range(found.n_systems)]
    strengths, log_nu = davidson(counts)
    if raters == "random":
        by_rater, by_cell = tally(found, "rater"), tally(found, f"{unit} of rater")
        scores = [
            with_raters(own, expected_wins(by_rater, at), expected_wins(by_cell, at)) for at, own in enumerate(scores)
        ]
        others = zip(strengths, davidson(by_rater)[0], davidson(by_cell)[0], strict=True)
        strengths = [with_raters(*each) for each in others]
    totals = {
        "wins": _square(found, found.outcome == 1) + _square(found, found.outcome == -1).T,
        "ties": _square(found, (found.outcome == 0) & (found.identical == 0)),
        "identical": _square(found, found.identical == 1),
    }
    totals |= {name: totals[name] + totals[name].T for name in ("ties", "identical")}
    decided = totals["wins"] + totals["wins"].T
    order = sorted(range(found.n_systems), key=lambda at: (-np.nan_to_num(scores[at].value, nan=-1.0), at))
    tests = paired_tests({found.systems[at]: scores[at] for at in order})
    apart = [test.systems for test in tests if test.is_apart()]
    can_rank = not any(isnan(test.p) for test in tests)
    groups = rank_groups([found.systems[at] for at in order], apart) if can_rank else {}
    better = dict.fromkeys(found.systems, 0)
    worse = dict(better)
    for test in tests:
        if test.is_apart():
            won, lost = test.systems if test.difference.value > 0 else test.systems[::-1]
            better[lost] += 1
            worse[won] += 1
    is_decided = found.outcome != 0
    systems = []
    for at in order:
        name = found.systems[at]
        of_system = is_decided & ((found.first == at) | (found.second == at))
        n_rankings = len(np.unique(found.ranking[of_system]))
        wins = share(
            scores[at],
            n=float(decided[at].sum()),
            n_design=float(n_rankings),
            undefined="no comparison with another system was decided",
        )
        strength = difference(strengths[at], undefined=NOT_CONNECTED).difference
        low, high = 1 + better[name], found.n_systems - worse[name]
        systems.append(Ranked(name, wins, strength, low, high, groups.get(name, ""), scores[at]))
    pairs = []
    for test in tests:
        one, other = (found.systems.index(name) for name in test.systems)
        pairs.append(
            PreferencePair(
                test=test,
                wins=int(totals["wins"][one, other]),
                losses=int(totals["wins"][other, one]),
                ties=int(totals["ties"][one, other]),
                identical=int(totals["identical"][one, other]),
            )
        )
    note = SENTENCES if unit == "sentence" and found.document_of is None else ""
    note = INDEPENDENT_PAIRS.partition(":")[0] if is_published else note
    scope = Scope(
        unit=used,
        n_units=0 if is_published else n_units,
        n_raters=len(found.raters) if raters == "random" else 0,
        note=note,
    )
    basis = Basis(raters=raters)
    how_named = {"interval": "published-pairs"} if is_published else {}
    signature = Signature(
        "prefer",
        {
            **basis.signature(used),
            **how_named,
            "rankings": digest(map(str, rankings.frame.select("item", "rater", "system", "rank").rows())),
        },
    )
    return Preference(
        systems=tuple(systems),
        pairs=tuple(pairs),
        agreement=agreement(found, unit),
        judges=tuple(_judges(found)),
        n_units=n_units,
        n=len(rankings),
        warnings=tuple(_warnings(rankings, found, order, decided, systems, is_published)) + scope.warnings,
        scope=scope,
        signature=signature,
        log_nu=log_nu,
    )


def _square(found: Comparisons, where: npt.NDArray[np.bool_]) -> Numbers:
    s = found.n_systems
    cells = np.bincount((found.first * s + found.second)[where], minlength=s * s)
    return cells.reshape(s, s).astype(np.float64)


def with_metrics(
    result: Preference, scores: Scores, on_sentences: Mapping[str, Interval] | None = None
) -> Preference:
    """The same result plus the comparison of metrics with people."""
    people = {each.system: each.influence for each in result.systems}
    tests = [pair.test for pair in result.pairs]
    metrics = metrics_and_people(people, tests, scores, unit=result.scope.unit, on_sentences=on_sentences)
    return replace(result, metrics=metrics, warnings=(*metrics.warnings, *result.warnings))


def with_our_metrics(
    result: Preference, rankings: Rankings, references: Sequence[Essay], scores: Scores | None = None
) -> Preference:
    """The same result plus our metrics of the ranked outputs and others' `scores`."""
    from grater.measure.corrections.ranked import our_scores, ranked_outputs  # which people alone need not wait for

    ranked, found = ranked_outputs(rankings, references), comparisons_of(rankings)
    own, by_sentence = our_scores(ranked)
    place_of = {item: place for place, item in enumerate(ranked.items)}
    items = rankings.frame["item"].unique().sort().to_list()
    places = np.array([place_of.get(item, -1) for item in items])[found.item_of][found.ranking]
    kept = (found.one_of_candidates == 1) & (found.outcome != 0) & (places >= 0)
    unit = "sentence" if result.scope.unit == "pair" else result.scope.unit
    of, on_sentences = found.units(unit), {}
    rows = {system: row for row, system in enumerate(ranked.outputs)}
    code = np.array([rows.get(system, -1) for system in found.systems])
    for metric, values in by_sentence.items():
        apart = values[code[found.first], places] - values[code[found.second], places]
        right = (1 + np.sign(np.where(np.abs(apart) < 1e-12, 0.0, apart)) * found.outcome) / 2
        counts = grouped_rows(
            np.stack([right, np.ones(len(right))], axis=1)[kept], of[found.ranking][kept], int(of.max()) + 1
        )
        on_sentences[metric] = shares_by_unit(counts[:, 0], counts[:, 1], unit)
    result = with_metrics(result, {**own, **(scores or {})}, on_sentences)
    if len(ranked.items) == ranked.n_items:
        return result
    of_all = f"metrics score {len(ranked.items):,} of {counted(ranked.n_items, 'ranked sentence')}"
    of_all += ": those in the references whose outputs are known of all systems"
    return replace(result, warnings=(of_all, *result.warnings))


def agreement(found: Comparisons, unit: str) -> JudgeAgreement:
    """The agreement of judges on pairs of candidates for a sentence."""
    kept = found.one_of_candidates == 1
    ranking, outcome = found.ranking[kept], found.outcome[kept] + 1
    cell = found.first[kept] * found.n_systems + found.second[kept]
    places, case = np.unique(found.item_of[ranking] * found.n_systems**2 + cell, return_inverse=True)
    outcomes = np.bincount(case * 3 + outcome, minlength=3 * len(places)).reshape(-1, 3).astype(np.float64)
    n = outcomes.sum(axis=1)
    outcomes, n = outcomes * (n > 1)[:, None], np.where(n > 1, n, 0.0)
    apart = np.divide(n**2 - (outcomes**2).sum(axis=1), n - 1, out=np.zeros(len(n)), where=n > 1)
    of = found.units(unit)
    unit_of_case = np.zeros(len(places), np.int64)
    unit_of_case[case] = of[ranking]
    n_units = int(of.max()) + 1
    rows = grouped_rows(np.stack([apart, n, outcomes[:, 1]], axis=1), unit_of_case, n_units)

    def alpha(sums: Numbers) -> Numbers:
        disagree, total, tied = sums[..., 0], sums[..., 1], sums[..., 2]
        by_chance = total**2 - tied**2 - (total - tied) ** 2 / 2
        return np.asarray(1 - ratio(disagree * (total - 1), by_chance))

    total, tied = rows[:, 1].sum(), rows[:, 2].sum()
    t = tied / total if total else 0.0
    den = rows[:, 2] * (1 - t) + (rows[:, 1] - rows[:, 2]) * (1 - (1 - t) / 2)
    value = influence(Units(rows, unit), alpha, den)
    rare = min(tied, total - tied)
    with_rare = int((np.minimum(rows[:, 2], 1) if rare == tied else np.minimum(rows[:, 1] - rows[:, 2], 1)).sum())
    shown = coefficient(value, rare=Rare(rare, with_rare), undefined="no two judges saw the same two outputs")
    between, within = _kappas(case, found.rater_of[ranking], outcome)
    return JudgeAgreement(shown, between, within, int((n * (n - 1) / 2).sum()))


def _kappas(case: Ints, rater: Ints, outcome: Ints) -> tuple[float, float]:
    """Kappa between judges and within judges, weighted by comparisons."""
    given = pl.DataFrame({"case": case, "rater": rater, "outcome": outcome}).with_row_index("at")
    twice = given.join(given, on="case", suffix="_2").filter(pl.col("at") < pl.col("at_2"))
    low, high = pl.min_horizontal("rater", "rater_2"), pl.max_horizontal("rater", "rater_2")
    shares = [(pl.col("outcome") == value).mean() + (pl.col("outcome_2") == value).mean() for value in range(3)]
    by_chance = pl.sum_horizontal((each / 2) ** 2 for each in shares)
    by_pair = twice.group_by(low.alias("low"), high.alias("high"), maintain_order=True).agg(
        pl.len().alias("n"),
        (pl.col("outcome") == pl.col("outcome_2")).mean().alias("same"),
        by_chance.alias("chance"),
    )
    known = by_pair.filter(pl.col("chance") < 1).with_columns(
        kappa=(pl.col("same") - pl.col("chance")) / (1 - pl.col("chance"))
    )
    found = []
    for is_same in (False, True):
        of = known.filter((pl.col("low") == pl.col("high")) == is_same)
        total = int(of["n"].sum())
        found.append(float((of["kappa"] * of["n"]).sum() / total) if total else nan)
    return found[0], found[1]


def _judges(found: Comparisons) -> Iterator[Judge]:
    n_rankings = np.bincount(found.rater_of, minlength=len(found.raters))
    kept = found.one_of_candidates == 1
    rater = found.rater_of[found.ranking[kept]]
    n_pairs = np.bincount(rater, minlength=len(found.raters))
    n_ties = np.bincount(rater, found.outcome[kept] == 0, minlength=len(found.raters))
    for at, name in enumerate(found.raters):
        yield Judge(name, int(n_rankings[at]), float(n_ties[at] / n_pairs[at]) if n_pairs[at] else nan)


def _warnings(
    rankings: Rankings,
    found: Comparisons,
    order: Sequence[int],
    decided: Numbers,
    systems: Sequence[Ranked],
    is_published: bool,
) -> Iterator[str]:
    if is_published:
        yield INDEPENDENT_PAIRS
    never = [
        f"{found.systems[one]} – {found.systems[other]}"
        for place, one in enumerate(order)
        for other in order[place + 1 :]
        if not decided[one, other]
    ]
    if never:
        shown = ", ".join(never[:MOST_NAMED]) + (", ..." if len(never) > MOST_NAMED else "")
        yield f"left out of expected wins, because no ranking decides them: {shown}"
    if unbounded := [each.system for each in systems if each.davidson.undefined_because == NOT_CONNECTED]:
        yield f"Davidson gives no finite score to {', '.join(unbounded)}: always better, or always worse"
    for reason, n_rows in rankings.dropped.items():
        yield f"left out {counted(n_rows, 'row')} of rankings: {reason}"
    compared = len(np.unique(found.ranking[found.identical == 0]))
    if n_alone := len(rankings) - compared:
        yield f"{counted(n_alone, 'ranking')} with fewer than two different outputs compare nothing"
    if len(found.raters) == 1:
        yield f"all rankings are by one judge ({found.raters[0]}): the preference is that person's"
