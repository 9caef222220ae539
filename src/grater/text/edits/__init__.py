"""Edits out of a sentence and its correction: aligned, merged, typed."""
