"""The tag sets of the field, what their tags mean, and how they map to each other.

`TAGSETS["nucle"]` gives a set; `translate` says what a tag is called in another; `split` tells prepositions and
articles apart by the words of an edit; `guess_tagset` finds the set that a corpus uses.  All of them are listed in
docs/tagsets.md.
"""

from grater.corpora.tagsets.maps import Mapped
from grater.corpora.tagsets.tagset import TAGSETS, Tag, TagSet, all_tagsets, guess_tagset
from grater.corpora.tagsets.translation import split, translate, translate_edit

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
