"""Trained models: one file each, with a card inside that says where it comes from.

`file` has the format; the models that come with the package lie in `shipped/`.
"""

from __future__ import annotations

from pathlib import Path

from grater.errors import UnknownName
from grater.models.file import Model, read_model, write_model
from grater.registry import unknown

__all__ = ["Model", "read_model", "shipped", "shipped_names", "write_model"]

SHIPPED = Path(__file__).parent / "shipped"


def shipped(name: str) -> Path:
    """The file of a model that comes with the package."""
    path = SHIPPED / f"{name}.model"
    if name not in shipped_names():
        raise UnknownName(unknown("model", name, shipped_names()))
    return path


def shipped_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.model"))
