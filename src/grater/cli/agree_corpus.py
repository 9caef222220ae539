"""`grater agree` on annotated corpora: identification, classification and exact agreement of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from grater.agreement.edits.as_json import corpus_json
from grater.agreement.edits.summary import EditOptions, edit_agreement
from grater.cli.agree_corpus_table import flat, render
from grater.cli.output import print_json, say
from grater.corpora import read_corpus, read_merged
from grater.corpora.documents import attach_documents
from grater.tables import write_table


def agree_corpora(
    files: Sequence[Path],
    *,
    options: EditOptions | None = None,
    format_name: str | None = None,
    documents: Path | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print how far the annotators of some files agree; several files are merged by essay.

    `documents` holds the texts that M2 sentences were cut from, so that whole documents are resampled.
    """
    essays = read_merged(files, format_name=format_name)
    if documents:
        essays = attach_documents(essays, read_corpus(documents))
    found = edit_agreement(essays, options)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(flat(found), out)
    if as_json:
        print_json(corpus_json(found))
    else:
        render(found, Console(highlight=False))
