"""The study itself: import, essays, items, export, report."""
