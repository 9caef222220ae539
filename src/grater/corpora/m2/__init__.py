"""M2, the format of the shared tasks: one tokenised sentence in a block, with the edits of its annotators.

    S She go to school .
    A 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0

Dahlmeier and Ng 2012; m2scorer and ERRANT read the same lines.  `fields` says what an A line means, `reading` makes
essays, `writing` writes them, and `columns` is a fast scan for scorers that need no essays.
"""

from collections.abc import Iterable, Iterator

from grater.corpora.formats import FileFormat, Report
from grater.corpora.m2.reading import read_m2, read_source
from grater.model import Essay

__all__ = ["FORMAT", "read_m2", "write_m2"]


def write_m2(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The lines of a file; see `grater.corpora.m2.writing`."""
    from grater.corpora.m2 import writing  # writing needs the tokeniser, whose patterns a scorer need not wait for

    return writing.write_m2(essays, report)


FORMAT = FileFormat("m2", (".m2",), read_source, write_m2, n_passes=2)
