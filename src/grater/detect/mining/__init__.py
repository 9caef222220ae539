"""Likely errors found by counts, for a person to accept or reject (docs/howto/mine-extraneous.md)."""
