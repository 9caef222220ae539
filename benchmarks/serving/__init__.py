"""What `benchmarks/load.py` is made of: a lean HTTP client, raters who use it, and where the CPU seconds went."""
