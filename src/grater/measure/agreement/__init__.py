"""How far raters agree, and with what certainty we know it (docs/agreement.md)."""

from grater.measure.agreement.coded import Coded
from grater.measure.agreement.coefficients import (
    band,
    band_words,
    bennett,
    bootstrap_intervals,
    fleiss,
    gwet,
    observed,
)
from grater.measure.agreement.cohen import cohen_kappa, standard_error
from grater.measure.agreement.compare import compare_pairs, compare_tables, dependent_test, independent_test
from grater.measure.agreement.confusion import Confusion, confusions, disagreements
from grater.measure.agreement.counts import Counts, from_rows, tally
from grater.measure.agreement.labels import weight_matrix
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
