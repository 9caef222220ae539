"""Prepositions chosen wrongly, put where none belongs, or left out: one design, three engines (docs/detectors.md)."""
