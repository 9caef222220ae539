"""Which items to judge: strata, sizes, draws that can be used again, and what a wanted precision will cost."""
