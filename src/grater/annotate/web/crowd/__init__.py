"""A crowd job at a glance, and its terms."""
