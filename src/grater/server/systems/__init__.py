"""Detectors and samples of their decisions."""
