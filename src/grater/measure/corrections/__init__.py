"""Scores of corrections against the edits of annotators, as the field's own scorers give them."""
