"""Clients that are kept between batches."""

import pytest

from relax_core.engine.limits import Limits
from relax_core.fleet.warm import WarmClients
from tests.processes import wait_until

LIMITS = Limits()


def test_a_client_is_lent_to_one_at_a_time_and_kept_for_the_next() -> None:
    clients = WarmClients()
    with clients.lent(LIMITS) as first, clients.lent(LIMITS) as second:
        assert first is not second
    with clients.lent(Limits(wall_seconds=1.0)) as other:
        assert other not in (first, second)
    with clients.lent(LIMITS) as again:
        assert again in (first, second)


def test_a_client_is_closed_if_its_use_fails_or_nobody_takes_it() -> None:
    clients = WarmClients(idle_seconds=0.01)
    with pytest.raises(ValueError, match="x"), clients.lent(LIMITS) as failed:
        raise ValueError("x")
    with clients.lent(LIMITS) as kept:
        assert kept is not failed
    assert wait_until(lambda: kept._is_closed)  # pyright: ignore[reportPrivateUsage]  # a closed one starts no worker
    assert failed._is_closed  # pyright: ignore[reportPrivateUsage]
