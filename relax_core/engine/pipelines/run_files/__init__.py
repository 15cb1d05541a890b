"""Recorded runs of this machine as files, see `docs/trace_format.md`: written, read, and shown without being run."""
