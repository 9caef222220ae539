"""Judgments, decisions, items, gold and samples: read from any file or frame, checked, written (docs/tables.md)."""

from grater.tables.judgments import (
    Judgments,
    are_first,
    data_hash,
    equal_in_number,
    first_of_each,
    parse_merge,
    require_raters,
    with_confidence,
    with_labels,
    with_status,
    without_flags,
)
from grater.tables.read import (
    parse_columns,
    read_amt,
    read_crowdflower,
    read_decisions,
    read_gold,
    read_items,
    read_judgments,
    read_sample,
    read_table,
    read_wide,
)
from grater.tables.sample import Sample, SampleMeta, items_hash, require_same_items, with_stratum_size
from grater.tables.schema import SCHEMAS, Table, exploded
from grater.tables.write import require_table_place, write_table

__all__ = [
    "SCHEMAS",
    "Judgments",
    "Sample",
    "SampleMeta",
    "Table",
    "are_first",
    "data_hash",
    "equal_in_number",
    "exploded",
    "first_of_each",
    "items_hash",
    "parse_columns",
    "parse_merge",
    "read_amt",
    "read_crowdflower",
    "read_decisions",
    "read_gold",
    "read_items",
    "read_judgments",
    "read_sample",
    "read_table",
    "read_wide",
    "require_raters",
    "require_same_items",
    "require_table_place",
    "with_confidence",
    "with_labels",
    "with_status",
    "with_stratum_size",
    "without_flags",
    "write_table",
]
