"""Which items to judge: strata, sizes, reusable draws, and the cost of a target precision."""
