"""Prepositions chosen wrongly, put where none belongs, or left out: one design, many engines (docs/detectors.md)."""
