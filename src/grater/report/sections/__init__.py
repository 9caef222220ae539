"""The questions of a report, one file each: from the inputs to words, pictures and tables."""
