"""Systems that grater did not write, as detectors like ours.

A corrector returns the edits that a system would make to an essay: a checker, a command, a file of corrected text.
An `ExternalDetector` turns edits into a decision on every item, so that any system is scored like ours.
"""

SCHEMES = ("command", "corrected", "edits", "harper", "languagetool")
"""The schemes of their names, as in `corrected:FILE`."""
