"""How far raters agree, and with what certainty we know it (docs/agreement.md)."""

from grater.measure.agreement.coded import Coded, Counts, from_rows, tally
from grater.measure.agreement.coefficients import (
    band,
    band_words,
    bennett,
    bootstrap_intervals,
    fleiss,
    gwet,
    observed,
    weight_matrix,
)
from grater.measure.agreement.cohen import Confusion, cohen_kappa, confusions, disagreements, standard_error
from grater.measure.agreement.groups import compare_pairs, compare_tables, dependent_test, independent_test
from grater.measure.agreement.summary import Agreement, Options, agreement

__all__ = [
    "Agreement",
    "Coded",
    "Confusion",
    "Counts",
    "Options",
    "agreement",
    "band",
    "band_words",
    "bennett",
    "bootstrap_intervals",
    "cohen_kappa",
    "compare_pairs",
    "compare_tables",
    "confusions",
    "dependent_test",
    "disagreements",
    "fleiss",
    "from_rows",
    "gwet",
    "independent_test",
    "observed",
    "standard_error",
    "tally",
    "weight_matrix",
]
