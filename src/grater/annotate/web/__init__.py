"""The web application of a study: pages for raters, managers and adjudicators, and a REST API (docs/server.md)."""

from grater.annotate.web.app import create_app
from grater.annotate.web.context import Settings
from grater.annotate.web.serving import setup_link

__all__ = ["Settings", "create_app", "setup_link"]
