"""What the tables say: agreement, crowds, samples, evaluation, corrections.  No detector, task or database."""
