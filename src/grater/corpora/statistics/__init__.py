"""The corpus study of the NUCLE paper for any annotated corpus (Dahlmeier, Ng & Wu 2013, sections 5 and 6).

`corpus_statistics` gives documents, sentences, tokens, types and edits (Table 5), edits per document and per sentence
(Figures 2, 3), tags (Figure 4), by annotator, by metadata field, and for several corpora side by side, with intervals
on densities and shares.
"""

from grater.corpora.statistics.counts import CorpusCounts
from grater.corpora.statistics.study import CorpusStatistics, Study, corpus_statistics
from grater.corpora.statistics.summary import Summary

__all__ = ["CorpusCounts", "CorpusStatistics", "Study", "Summary", "corpus_statistics"]
