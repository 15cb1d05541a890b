"""The latest replies of the worker, so that a rerun of a page for a step or a selection asks for nothing twice."""

from collections import OrderedDict
from typing import TypeVar, cast

from relax_core.engine.protocol import Failure, Request

R = TypeVar("R")

_KEPT = 9
"""As many as a page asks for at once, and no more, for replies about long programs are large."""


class Replies:
    """Replies by request. A reply follows from its request alone; a failure may not, and is not kept."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, object] = OrderedDict()

    def get(self, request: Request[R]) -> R | None:
        """Return the reply that was kept for an equal request."""
        if request not in self._known:
            return None
        self._known.move_to_end(request)
        return cast("R", self._known[request])

    def keep(self, request: Request[R], reply: R | Failure) -> None:
        """Keep a reply, and drop the least recently used one."""
        if isinstance(reply, Failure):
            return
        self._known[request] = reply
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget all replies."""
        self._known.clear()
