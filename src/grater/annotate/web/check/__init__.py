"""Checks of anybody's writing: a page for people, LanguageTool's protocol for editors; off unless switched on."""
