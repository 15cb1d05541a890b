"""The commands as requests of HTTP, with JSON in and out, for scripts."""
