"""grater: find out how good a grammatical error detector really is.

The plan of the house is in docs/architecture.md.  Import what you need from its room: `from grater.corpora import
read_corpus`.  Importing `grater` alone loads nothing else.
"""

__version__ = "0.2.0"
