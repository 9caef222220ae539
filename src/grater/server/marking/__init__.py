"""Marking errors in essays."""
