"""Fixtures of the pages' tests."""

import pytest

from views.worker.replies import shared_replies


@pytest.fixture(autouse=True)
def nothing_shared() -> None:
    """Begin each test as the first visitor of a server: no reply was given to another test."""
    shared_replies.cache_clear()
