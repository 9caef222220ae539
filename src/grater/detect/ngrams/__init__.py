"""N-gram language models: counted, smoothed, stored and queried, with nothing but numpy (docs/language-model.md)."""
