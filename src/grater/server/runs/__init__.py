"""Long work in the background: how far it is, and what it made."""
