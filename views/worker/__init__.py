"""Asking the worker of a browser session: what is asked about, waiting, and the replies that are kept."""
