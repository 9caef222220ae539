"""How far raters agree, and how precisely that is known (docs/agreement.md)."""
