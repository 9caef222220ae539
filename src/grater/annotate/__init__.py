"""Studies: tasks, the rules and storage of a study, the web server."""
