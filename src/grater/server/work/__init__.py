"""A rater's work: jobs, leases, answers."""
