"""Detectors, samples of their decisions, and work in the background."""
