"""Articles and the number of nouns: the five constructions of Lee, Tetreault & Chodorow 2009 as a detector."""
