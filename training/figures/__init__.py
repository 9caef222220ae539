"""The figures on model cards and in the pages about detectors; not part of any distribution."""
