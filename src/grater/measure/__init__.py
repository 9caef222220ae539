"""Statistics of the tables: agreement, crowds, samples, evaluation, corrections.  No detector, task or database."""
