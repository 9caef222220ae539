"""Jobs: made, opened, followed."""
