"""Scores of corrections against annotators' edits, as the field's own scorers compute them."""
