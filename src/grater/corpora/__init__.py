"""Learner corpora in any format of the field, as one clean data type.

`read_corpus` gives essays, `write_corpus` writes them; `formats.FORMATS` lists the formats.  See docs/corpora.md.
"""
