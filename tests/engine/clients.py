"""Clients of workers for the tests of this folder."""

from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers


def forked_client() -> Client:
    """A client whose workers are forked, as those of the pages are: one that is lost is replaced at once."""
    return Client(launcher=forked_workers())
