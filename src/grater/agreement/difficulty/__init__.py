"""Which items are easy and which are hard, and what goes with it (T,C&M 2013, 5.5; docs/raters-needed.md)."""

from grater.agreement.difficulty.columns import ColumnGroup, by_columns
from grater.agreement.difficulty.spread import Spread, spreads
from grater.agreement.difficulty.summary import Difficulty, DifficultyOptions, ItemDifficulty, difficulty

__all__ = [
    "ColumnGroup",
    "Difficulty",
    "DifficultyOptions",
    "ItemDifficulty",
    "Spread",
    "by_columns",
    "difficulty",
    "spreads",
]
