"""The models of grater's detectors, one file each with a card inside; `grater.models` finds them here."""
