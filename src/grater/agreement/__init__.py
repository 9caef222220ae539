"""How far raters agree, and with what certainty we know it (docs/agreement.md)."""

from grater.agreement.bands import band
from grater.agreement.coded import Coded
from grater.agreement.cohen import cohen_kappa, standard_error
from grater.agreement.compare import compare_pairs, compare_tables
from grater.agreement.confusion import Confusion, confusions, disagreements
from grater.agreement.counts import Counts, from_rows, tally
from grater.agreement.kappa import bennett, fleiss, gwet, observed
from grater.agreement.limits import bootstrap
from grater.agreement.summary import Agreement, Options, agreement
from grater.agreement.tests import dependent, independent
from grater.agreement.weights import weight_matrix

__all__ = [
    "Agreement",
    "Coded",
    "Confusion",
    "Counts",
    "Options",
    "agreement",
    "band",
    "bennett",
    "bootstrap",
    "cohen_kappa",
    "compare_pairs",
    "compare_tables",
    "confusions",
    "dependent",
    "disagreements",
    "fleiss",
    "from_rows",
    "gwet",
    "independent",
    "observed",
    "standard_error",
    "tally",
    "weight_matrix",
]
