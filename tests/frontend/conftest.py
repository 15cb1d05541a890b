"""Short texts are read here as long ones are: with names in place of their plain types and calls."""

from collections.abc import Iterator

import pytest

from relax_core.frontend.tvmscript import recover


@pytest.fixture(autouse=True, scope="session")
def _abbreviated() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recover, "SHORTEST_ABBREVIATED", 0)
        yield
