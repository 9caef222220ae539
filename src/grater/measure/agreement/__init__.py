"""How far raters agree, and with what certainty we know it (docs/agreement.md)."""
