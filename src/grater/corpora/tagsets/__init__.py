"""The tag sets of the field, what their tags mean, and how they map to each other.

`TAGSETS["nucle"]` gives a set; `translate` says what a tag is called in another; `split` tells prepositions and
articles apart by the words of an edit; `guess_tagset` finds the set that a corpus uses.  All of them are listed in
docs/tagsets.md.
"""

from grater.corpora.tagsets.known import TAGSETS, all_tagsets, guess_tagset
from grater.corpora.tagsets.mapped import Mapped
from grater.corpora.tagsets.maps import translate, translate_edit
from grater.corpora.tagsets.split import split
from grater.corpora.tagsets.tagset import Tag, TagSet

__all__ = [
    "TAGSETS",
    "Mapped",
    "Tag",
    "TagSet",
    "all_tagsets",
    "guess_tagset",
    "split",
    "translate",
    "translate_edit",
]
