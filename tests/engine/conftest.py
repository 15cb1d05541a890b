"""What the tests of the engine share: one session for a file, with all that it keeps between requests."""

import pytest

from relax_core.engine.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()
