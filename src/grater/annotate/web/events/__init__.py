"""The event log: who did what, and webhooks that are told of it."""
