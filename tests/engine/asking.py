"""A request to a session that has to answer it."""

from typing import TypeVar

from relax_core.engine.protocol import Failure, Request
from relax_core.engine.session import Session

Reply = TypeVar("Reply")


def ask(session: Session, message: Request[Reply]) -> Reply:
    """Return the reply, which is no failure."""
    reply = session.request(message)
    assert not isinstance(reply, Failure), f"{reply.title}: {reply.message}\n{reply.rendered}"
    return reply
