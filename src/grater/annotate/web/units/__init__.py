"""Units of a job: what was answered, and known answers."""
