"""The corpus study over one corpus or several side by side: one pass over each, then every number from its counts.

The top level adds up the files and the annotators; a text that stands in two files is counted in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grater.corpora.statistics.estimates import Resampling
from grater.corpora.statistics.fingerprint import Fingerprint, same_text
from grater.corpora.statistics.groups import require_known
from grater.corpora.statistics.parts import CorpusTally, together
from grater.corpora.statistics.reading import Counting
from grater.corpora.statistics.study import CorpusStatistics, Study
from grater.model import Essay
from grater.signature import Signature


def corpus_statistics(
    corpora: Mapping[str, Iterable[Essay]],
    *,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
    seed: int = 0,
    resamples: int = 1000,
) -> CorpusStatistics:
    """The corpus study of named corpora; each is read once, and nothing of it is kept but counts."""
    counting, resampling = Counting(merge_alternatives, split_tags), Resampling(seed, resamples)
    tallies = [CorpusTally.of(name, essays, by, counting) for name, essays in corpora.items()]
    if by is not None:
        require_known(by, {field for tally in tallies for field in tally.fields})
    parts = [tally.parts() for tally in tallies]
    files = tuple(part.study(resampling) for part in parts)
    prints = {tally.name: tally.fingerprint for tally in tallies}
    same = same_text(prints)
    whole = files[0] if len(files) == 1 else together(parts, by, same).study(resampling)
    data = sum(prints.values(), start=Fingerprint())
    return CorpusStatistics(whole, files, same, _signature(whole, counting, resampling, data))


def _signature(whole: Study, counting: Counting, resampling: Resampling, data: Fingerprint) -> Signature:
    options = {
        "alternatives": "merged" if counting.merge_alternatives else "apart",
        "tags": "split" if counting.split_tags else "given",
        "by": whole.field or "none",
        "interval": f"bootstrap-{resampling.level}",
        "unit": whole.summary.unit,
        "resamples": str(resampling.n_resamples),
        "seed": str(resampling.seed),
        "data": str(data),
    }
    return Signature("corpus-stats", options)
