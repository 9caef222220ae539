"""Panels that send raters, and their places."""
