"""Processes that tests kill: each is forked from one that has imported what they need and used none of it."""

from __future__ import annotations

from multiprocessing import get_context

PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.annotate.store.killed", "tests.annotate.study.killed"])
