"""grater-train: what makes the models that grater's detectors use.  It imports grater; grater never imports it."""

__version__ = "0.3.0"
