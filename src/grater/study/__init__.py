"""The workflow of a study: the same functions behind the command line and the server's buttons (docs/store.md).

Each step is one transaction, so it is done or it is not, can be repeated, and survives a power cut at any point.
"""
