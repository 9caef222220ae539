"""N-gram language models: counted, smoothed, stored and asked, with nothing but numpy (docs/language-model.md)."""
