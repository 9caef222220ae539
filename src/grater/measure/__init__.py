"""Statistics computed from tables: agreement, crowds, samples, evaluation, corrections. Knows no detector, task or
database.
"""
