"""People of a study: invitations, roles, joint seats."""
