"""Studies: tasks, a study's rules and storage, and the web server."""
