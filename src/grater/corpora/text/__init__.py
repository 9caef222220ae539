"""The parts of a text: tokens, sentences, prepositions, and the alignment of two texts.  Pure; offsets kept."""
