"""The web application of a study: pages for raters, managers and adjudicators, and a REST API (docs/server.md)."""

from grater.server.app import create_app
from grater.server.serving import setup_link
from grater.server.settings import Settings

__all__ = ["Settings", "create_app", "setup_link"]
