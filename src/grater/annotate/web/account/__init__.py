"""A person's account: logging in, invitations, their own page."""
