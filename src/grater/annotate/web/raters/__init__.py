"""The raters of a job, and what they and its managers write to each other."""
