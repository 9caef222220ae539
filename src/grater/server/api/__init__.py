"""The REST API under /api/v1: the same powers as the pages, for programs with a token (docs/api.md)."""
