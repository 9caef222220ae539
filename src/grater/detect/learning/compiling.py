"""Inner loops of training, compiled by numba where it is installed; using a model never needs it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from grater.errors import MissingExtra


@cache
def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """The function as machine code."""
    try:
        from numba import njit  # half a second, which only training pays
    except ImportError as error:
        raise MissingExtra("training needs numba; install it with: pip install 'grater[fast]'") from error
    made: Callable[..., Any] = njit(fastmath=True, nogil=True)(function)
    return made
