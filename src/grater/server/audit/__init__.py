"""Who did what: the event log for managers, filtered and exported."""
