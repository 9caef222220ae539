"""Webhooks: who is told of events, and how."""
