"""Limits around numbers: the one place in grater where intervals are made.

`wilson` and `jeffreys` for a share of independent cases, `finite` for the same in a finite population, `stratified`
for a total over strata, `mover` for sums and ratios of independent totals, `bootstrap` for any ratio of sums over
resampled units; `holm` for many tests.
"""
