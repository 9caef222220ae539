"""What the linear detectors share: words and contexts as numbers, features, fits, small models, calibration."""
