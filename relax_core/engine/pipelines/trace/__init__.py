"""Traces as files: what the recorder writes, see `docs/trace_format.md`."""
