"""The words of Landis & Koch 1977 (Biometrics 33, p. 165) for a kappa, as the papers print them beside it.

The bands are arbitrary by their authors' own word, and a value says more with its limits than with its band.
"""

from __future__ import annotations

BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def band(value: float) -> str:
    """`poor` below 0, `almost perfect` above .8; nothing for an undefined value."""
    if value != value:
        return ""
    if value < 0:
        return "poor"
    return next((name for limit, name in BANDS if value <= limit), "almost perfect")
