"""Detectors of errors: programs that look at every place of one kind in an essay and report which look wrong."""
