"""What the commands on studies share."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from grater.errors import BadInput, Problem
from grater.files import reason
from grater.options import Opt

if TYPE_CHECKING:
    from grater.annotate.store import Store

ServerUrl: TypeAlias = Annotated[str, Opt("The public address of the server.")]
JobName: TypeAlias = Annotated[str, Opt("The name of the job.", "JOB")]


def opened(study: str) -> Store:
    """An existing study; help need not wait for SQLAlchemy."""
    from grater.annotate.store import open_store

    return open_store(study)


def pasted(study: str) -> str:
    """The study as the next command takes it; a URL may hold a password, and is not repeated."""
    return "STUDY" if "://" in study else shlex.quote(study)


def answers_of(study: str, chatting: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The file of answers, by default next to the study, and the other settings of a chat endpoint."""
    settings = dict(chatting)
    kept = settings.pop("cache", None)
    return kept or Path(f"{study if '://' not in study else 'study'}.answers.jsonl"), settings


def read_guidelines(path: Path) -> str:
    """Instructions in Markdown from a file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(Problem(str(path), f"expected instructions in UTF-8: {reason(error)}")) from error


def unmet_gold(study: str, job: str) -> str:
    """Gold that no rule gives out is met by nobody."""
    command = f"grater job terms {pasted(study)} {shlex.quote(job)} --change"
    return f"note: {job} has no rule for gold yet, so raters will not see it; set one: {command} '{{\"gold\": {{}}}}'"
