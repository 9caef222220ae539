"""Coefficients from margins alone, for labels that are equal or not: no table of labels by labels is made.

The same formulas as `cohen`, `kappa` and `alpha` with identity weights, for label sets of thousands (a tag with its
correction is a label) and for tables of expectations.  The last axis holds the sums.  For two raters these are `n,
agreeing, first's labels ..., second's labels ...`; for any number `n, share of pairs that agree, pairs that disagree
/ (m - 1), shares of labels ..., counts of labels ...`.
"""

from __future__ import annotations

import numpy as np

from grater.agreement.coefficient import Sums, ratio

OF_PAIR = ("observed", "kappa")
OF_ALL = ("observed", "fleiss", "ac1", "s", "alpha")


def pair_scores(sums: Sums, n_labels: int) -> Sums:
    """Observed agreement and Cohen's kappa (1960)."""
    n = sums[..., 0]
    observed = ratio(sums[..., 1], n)
    margins = sums[..., 2 : 2 + n_labels] * sums[..., 2 + n_labels :]
    expected = ratio(margins.sum(axis=-1), n * n)
    return np.stack([observed, ratio(observed - expected, 1 - expected)], axis=-1)


def all_scores(sums: Sums, n_labels: int) -> Sums:
    """Observed agreement, Fleiss kappa, Gwet's AC1, Bennett's S and Krippendorff's alpha."""
    observed = ratio(sums[..., 1], sums[..., 0])
    shares = ratio(sums[..., 3 : 3 + n_labels], sums[..., :1])
    margins = sums[..., 3 + n_labels :]
    fleiss = (shares**2).sum(axis=-1)
    gwet = (shares * (1 - shares)).sum(axis=-1) / (n_labels - 1) if n_labels > 1 else np.full_like(observed, np.nan)
    bennett = np.full_like(observed, 1 / n_labels if n_labels > 1 else np.nan)
    beyond = [ratio(observed - chance, 1 - chance) for chance in (fleiss, gwet, bennett)]
    total = margins.sum(axis=-1)
    alpha = 1 - ratio(sums[..., 2] * (total - 1), total**2 - (margins**2).sum(axis=-1))
    return np.stack([observed, *beyond, alpha], axis=-1)
