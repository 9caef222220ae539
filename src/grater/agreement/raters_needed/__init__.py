"""How many raters match an expert (Tetreault, Chodorow & Madnani 2013, 5.2 and 5.3; docs/raters-needed.md)."""

from grater.agreement.raters_needed.curves import Curve, NeedOptions, Point, RatersNeeded, Target, raters_needed
from grater.agreement.raters_needed.wins import wins

__all__ = ["Curve", "NeedOptions", "Point", "RatersNeeded", "Target", "raters_needed", "wins"]
