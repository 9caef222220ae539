"""brat standoff: a folder with two files per essay, its text and what was marked in it.

Stenetorp et al. 2012, "brat: a Web-based Tool for NLP-Assisted Text Annotation", and the format's page,
brat.nlplab.org/standoff.html.  `NAME.txt` is the text; `NAME.ann` has a line for each thing marked in it; without an
`.ann` nobody looked:

    T1  Wform 3 7   goed                     T1 has the type Wform, and covers characters 3 to 7
    #1  AnnotatorNotes T1   => went          a note on T1

A text-bound line (T) is an edit, its type the tag.  Its note, if it starts with an arrow, is the correction:
`=> went`, `=> went || gone` (alternatives), `=> -NONE-` (delete), each with a comment if wanted, `=> went // tense`;
any other note is a comment on an error that was not corrected.  After an arrow, `\\` escapes: `\\n`, `\\t`, `\\s` (a
space at the rim), `\\|`, `\\/`, `\\\\`, `\\u2028`.

What brat has no place for is in a note of type `Grater`, as JSON: a tag that is not a valid type (`R:NOUN:NUM`,
shown as `R_NOUN_NUM`), an edit's `extra`, and for the whole essay (target `document`) its metadata, tokens,
annotators and id.  It counts as long as it agrees with what a person sees in brat; what is changed there wins.

Spans: brat marks at least one character, and no line's end.  A span across lines is written as one fragment per
line, and fragments with nothing but line ends between them are read as one span.  An insertion is shown on the word
it touches, else the next, with the correction of that word (`house` `=> the house`); a Grater note keeps its place,
and the report says so.  A truly discontinuous mark becomes an edit of the whole stretch, with its fragments in
`Edit.extra["brat"]`.

Annotators: a lone file is the work of annotator `0`, unless a Grater note names another.  Several annotators have a
folder each, with the same files (`ALICE/e1.txt`, `ALICE/e1.ann`, `BOB/e1.txt`, ...): files of one name and one text
in different folders are one essay.

Ids: the name of the pair; characters unfit for a file name are written as `%` and two hexadecimal digits, `/` too,
so no essay can leave the folder.  Relations, events, attributes, normalisations, equivalences and notes on them are
kept as lines, in `metadata["brat"]` by annotator, and written back while the marks they refer to are there.

Refused: marks outside the text, text that is not what the line quotes, lines that brat does not have, `.a1` and
`.a2` files.  Not held, and reported: an insertion in a text without a word.  Essays come back in the order of their
names, the edits of each annotator together.
"""

from __future__ import annotations

from grater.corpora.brat.project import read_brat, write_brat
from grater.corpora.formats import FolderFormat

FORMAT = FolderFormat("brat", (".ann",), read_brat, write_brat)

__all__ = ["FORMAT", "read_brat", "write_brat"]
