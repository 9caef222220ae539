"""Mined suspects: lists, verdicts, the balanced corpus."""
