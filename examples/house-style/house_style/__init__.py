"""A package that adds to grater: copy it, keep what you need, and change the names."""
