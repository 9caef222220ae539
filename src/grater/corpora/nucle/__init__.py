"""NUCLE SGML: whole learner essays with character offsets (Dahlmeier, Ng and Wu 2013, section 3; CoNLL-2013, -2014).

    <DOC nid="1">
    <TEXT>
    <TITLE>
    ...
    </TITLE>
    <P>
    ...
    </P>
    </TEXT>
    <ANNOTATION teacher_id="8">
    <MISTAKE start_par="1" start_off="42" end_par="1" end_off="46">
    <TYPE>ArtOrDet</TYPE>
    <CORRECTION>the</CORRECTION>
    <COMMENT>...</COMMENT>
    </MISTAKE>
    </ANNOTATION>
    </DOC>

Text.  The text of an essay is its title, if any, and its paragraphs, joined by `\\n`; one line end after `<P>` and
one before `</P>` are layout.  Paragraphs count from 0 and a TITLE is paragraph 0: without one, the first P is (so it
is in both CoNLL-2014 files, 7 essays with a title and 43 without: 5,723 of their 5,728 spans begin and end at
words).  Offsets are code points.  `metadata["titled"]` says that paragraph 0 is a title; `metadata["paragraphs"]`
keeps the lengths where the text alone does not tell them.  A file with CRLF line ends reads as its LF twin does.

Annotators.  Each ANNOTATION is a `teacher_id`; one without a MISTAKE is an annotator who found nothing.

Corrections.  An empty CORRECTION deletes the words, but where there are none to delete, and for `Um`, `Cit` and `Wa`
(passages too poor to correct, citation practice and acronyms, Table 1) it means: found, not corrected.  The format
itself cannot tell the two apart; a rule has to.

Markup.  NUCLE is not XML: a `&` or `<` that begins no reference and no NUCLE tag is itself, and so is any other tag
inside the words.  `&lt; &gt; &amp; &quot; &apos;` and numeric references are decoded (the CoNLL-2013 scripts leave
them as they are).  Declarations (`<!DOCTYPE`, `<!ENTITY`) are refused: nothing is ever expanded.  The writer escapes
only what would be misread.  In a REFERENCE the release closes a paragraph with a second `<P>` (those scripts mend
it); that is read, and written right.

The personal fields of the full corpus (FIRST_LANGUAGE and the like) are metadata by their names in small letters;
attributes and elements that nobody knows are kept under `sgml` in the metadata or in an edit's `extra`
(`leftovers`).

What cannot be held is reported as a loss: alternatives (the first is written: a MISTAKE each would change the count),
corrections that the rule above would read differently, the order of edits of different annotators, tokens, ids that
repeat, any other metadata or extra.
"""

from __future__ import annotations

from collections.abc import Iterator

from grater.corpora.formats import FileFormat, Source
from grater.corpora.nucle.essays import read_nucle, write_nucle
from grater.model import Essay

__all__ = ["FORMAT", "read_nucle", "write_nucle"]


def _read(source: Source) -> Iterator[Essay]:
    return read_nucle(source.lines(), name=source.name)


FORMAT = FileFormat("nucle", (".sgml", ".sgm"), _read, write_nucle)
