"""Maps into the NUCLE tags: from CoNLL-2014.  ERRANT and CLC codes go there by way of CoNLL-2014 (see `maps`)."""

from __future__ import annotations

from grater.corpora.tagsets import conll14
from grater.corpora.tagsets.mapped import Mapped, broader, exact

FROM_CONLL14: dict[str, Mapped] = {tag.code: exact(tag.code) for tag in conll14.TAGSET} | {
    "ArtOrDet": broader("ArtOrDet", "a redundant article may be Rloc in NUCLE"),
    "Prep": broader("Wcip", "Wcip is also collocations and idioms; a redundant preposition may be Rloc in NUCLE"),
    "Wci": broader("Wcip", "Wcip is also prepositions"),
    "Rloc-": broader("Rloc", "Rloc is also redundant articles and prepositions"),
}
