"""A rater's work: jobs, leases, answers, marks and marks to look at again."""
