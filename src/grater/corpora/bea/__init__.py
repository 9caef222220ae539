"""BEA-2019 JSON: one object per essay, with character edits, as the W&I+LOCNESS and FCE releases have it.

Bryant, Felice, Andersen and Briscoe 2019, "The BEA-2019 Shared Task on Grammatical Error Correction".  One object per
line; one array, and objects spread over several lines, are read too:

    {"id": "1-7", "userid": "27", "cefr": "B1.i", "text": "We goes.", "edits": [[0, [[3, 7, "go"]]]]}

`edits` is a list of [annotator, [[start, end, correction], ...]]; offsets are code points of `text`.  A correction
of `null` means found but not corrected, `""` means delete.  A fourth value is the edit's type and becomes its tag;
further values are kept in `Edit.extra["more"]`.  The essay's id is `id`, else `_id`, else a hash of the text; every
other key, in its order and with its JSON type, is metadata (so is an id that is no string or stands beside `_id`).

What is read is written back as equal JSON, but for two additions: an essay without `edits` gets an empty list, and an
annotator id that is a string of digits becomes a number.  Keys come in the order id, metadata, text, edits.

Refused: offsets outside the text, an annotator who stands twice, and what `json_text` refuses.  Not held by the
format, and reported: all but the first of several corrections, comments, tokens.  Annotator ids are numbers by
custom; others are written as strings, and reported as changed.
"""

from __future__ import annotations

from grater.corpora.bea.reading import read_bea
from grater.corpora.bea.writing import write_bea
from grater.corpora.format import FileFormat

FORMAT = FileFormat("bea", (".json",), read_bea, write_bea)

__all__ = ["FORMAT", "read_bea", "write_bea"]
