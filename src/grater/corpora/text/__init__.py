"""What a text is made of: tokens, sentences, prepositions, and the alignment of two texts.  Pure; offsets kept."""
