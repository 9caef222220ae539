"""A neural detector that reads a whole sentence at once: prepositions, articles, number and verb forms."""
