"""The corpus formats by name; others join by the entry-point group `grater.formats`."""

from __future__ import annotations

from grater.corpora.format import Format
from grater.registry import Registry

FORMATS: Registry[Format] = Registry(
    "format",
    "grater.formats",
    {
        "bea": "grater.corpora.bea:FORMAT",
        "brat": "grater.corpora.brat:FORMAT",
        "fce": "grater.corpora.fce:FORMAT",
        "jsonl": "grater.corpora.jsonl:FORMAT",
        "m2": "grater.corpora.m2:FORMAT",
        "nucle": "grater.corpora.nucle:FORMAT",
        "text": "grater.corpora.plain:FORMAT",
    },
)
