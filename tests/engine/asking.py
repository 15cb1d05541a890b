"""A request to a session that has to answer it."""

from typing import Any

from relax_core.engine.protocol import Failure, Request
from relax_core.engine.session import Session


def ask(session: Session, message: "Request[Any]") -> Any:
    """Return the reply, which is no failure."""
    reply = session.request(message)
    assert not isinstance(reply, Failure), f"{reply.title}: {reply.message}\n{reply.rendered}"
    return reply
