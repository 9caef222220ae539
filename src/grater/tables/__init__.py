"""Judgments, decisions, items, gold and samples: read from any file or frame, checked, written (docs/tables.md)."""

from grater.tables.read import (
    Judgments,
    Sample,
    SampleMeta,
    are_first,
    as_decisions,
    as_fates,
    as_gold,
    as_items,
    as_judgments,
    as_remaining,
    as_sample,
    data_hash,
    equal_in_number,
    first_of_each,
    items_hash,
    parse_columns,
    parse_merge,
    read_decisions,
    read_gold,
    read_items,
    read_judgments,
    read_sample,
    read_table,
    require_raters,
    require_same_items,
    with_confidence,
    with_labels,
    with_stratum_size,
    without_flags,
)
from grater.tables.schema import Table, exploded
from grater.tables.write import require_table_place, write_joined, write_table, write_worksheet

__all__ = ["Judgments", "Sample", "SampleMeta", "Table"]
__all__ += ["read_decisions", "read_gold", "read_items", "read_judgments", "read_sample", "read_table"]
__all__ += ["as_decisions", "as_fates", "as_gold", "as_items", "as_judgments", "as_remaining", "as_sample"]
__all__ += ["require_table_place", "write_joined", "write_table", "write_worksheet"]

# Judgments and samples: filtered, renamed, checked
__all__ += ["with_confidence", "with_labels", "with_stratum_size", "without_flags"]
__all__ += ["are_first", "equal_in_number", "exploded", "first_of_each", "parse_columns", "parse_merge"]
__all__ += ["data_hash", "items_hash", "require_raters", "require_same_items"]
