"""Classes: the ones that this server holds, what this browser is in one, and the line that tells of it on each page."""
