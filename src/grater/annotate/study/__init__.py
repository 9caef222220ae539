"""The service layer: every rule and every limit of a study, behind commands, pages and API alike (docs/store.md).

Each step is one transaction: it is done or it is not, can be repeated, and survives a power cut at any point.
"""
