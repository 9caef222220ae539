"""Limits around numbers: the one place in grater where intervals are made.

`wilson` for a share of independent cases, `bootstrap` for anything that is a ratio of sums over resampled units.
"""
