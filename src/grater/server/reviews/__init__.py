"""Marks that an annotator should look at again."""
