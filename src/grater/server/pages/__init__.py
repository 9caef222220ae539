"""The pages, one file per group; each has a router."""
