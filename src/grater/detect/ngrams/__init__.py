"""N-gram language models: counted, smoothed, stored and queried, with nothing but numpy (docs/detectors.md)."""
