"""A metric: the share of sentences that equal one annotator's, word for word."""

import numpy as np

from grater.extend import Metric, Signature, corrected_texts, hypothesis_texts, of_rows


class Exact(Metric):
    """The share of sentences that are as some annotator wants them."""

    name = "exact"
    columns = ("right", "sentences")
    references_are_texts = True

    def count(self, references, hypotheses, options):
        wanted = [set(corrected_texts(essay).values()) for essay in references.essays]
        return [
            of_rows(
                each.system,
                np.array([[text in texts, 1] for text, texts in zip(found, wanted, strict=True)], dtype=np.int64),
            )
            for each in hypotheses
            for found in [hypothesis_texts(references, each)]
        ]

    def scores(self, sums, options):
        return sums[..., :1] / sums[..., 1:]

    def values(self, counts, options):
        return self.scores(counts.cells.sum(axis=(0, 1)), options)

    def sentence_scores(self, counts, options):
        return self.scores(counts.cells[:, 0], options)

    def signature(self, references, options):
        return Signature("exact", {})


METRIC = Exact()
