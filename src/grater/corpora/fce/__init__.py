"""FCE XML: exam scripts of the Cambridge Learner Corpus, with corrections nested in the running text.

Yannakoudakis, Briscoe and Medlock 2011, "A New Dataset and Method for Automatically Grading ESOL Texts"; the error
codes are those of Nicholls 2003.  The release has one `<learner>` per file; many under one root are read too:

    <learner><head sortkey="K"><candidate><personnel><language/><age/></personnel><score/></candidate><text>
      <answer1><question_number/><exam_score/><coded_answer><p>We <NS type="TV"><i>go</i><c>went</c></NS>.</p>...

Each answer is one essay, `K/answer1`; without a sortkey its id is a hash of the text.  Its text is what the learner
wrote (the `<i>` side), paragraphs joined by `\\n`, white space as it stands.  Metadata: sortkey, answer, language,
age, score, question_number, exam_score, as strings; any other element or attribute is kept under its path
(`head/candidate/x`, `head@url`).

An `<NS>` is an edit of annotator `0`, the outer one first: with `<i>` and `<c>` a replacement (several `<c>` are
alternatives), with `<c>` alone an insertion, with `<i>` alone a deletion, with neither an error that was found but
not corrected.  Bare text beside a `<c>` counts as `<i>`.  A correction that is corrected in turn (`<NS>` in a `<c>`)
counts with its corrected side, the first where there are several; how it came about is kept in `Edit.extra["c"]`
(JsonML, one list per `<c>`) and written back; other attributes of an `<NS>` are in `Edit.extra["attributes"]`.

Refused: entities of one's own, any DTD that is not empty, markup that would be lost.  Not held by the format, and
reported: edits that cross each other or a paragraph's end, other annotators, the annotator's name, comments, tokens,
other metadata, characters that XML 1.0 has no way to write.  Edits are written in the order of the text.
"""

from __future__ import annotations

from grater.corpora.fce.reading import read_fce
from grater.corpora.fce.writing import write_fce
from grater.corpora.formats import FileFormat

FORMAT = FileFormat("fce", (".xml",), read_fce, write_fce)

__all__ = ["FORMAT", "read_fce", "write_fce"]
