"""The latest replies of workers, so that nothing is asked for twice: by a page that runs again, or by many visitors."""

import threading
from collections import OrderedDict
from functools import cache
from typing import Final, TypeVar, cast

from relax_core.engine.protocol import (
    CompareGraph,
    DevicesOf,
    Failure,
    GraphOf,
    Inspect,
    KernelOf,
    Open,
    Operators,
    PartitionOf,
    PipelineOf,
    Program,
    PropertiesOf,
    Request,
    RunOf,
    Script,
    StageOf,
    VocabularyOf,
)
from relax_core.engine.samples import list_samples

R = TypeVar("R")

_KEPT: Final = 9
"""As many as a page asks for at once, and no more, for replies about long programs are large."""
_SHARED: Final = 64
"""Enough for a class, which opens one step at a time, and for new visitors, who open the first samples."""
_SHARED_KINDS: Final = (
    Open,
    GraphOf,
    Inspect,
    PipelineOf,
    StageOf,
    CompareGraph,
    RunOf,
    PartitionOf,
    DevicesOf,
    KernelOf,
    PropertiesOf,
    Script,
    VocabularyOf,
    Operators,
)
"""What pages show first; what a visitor asks to have measured is measured for that visitor."""


class Replies:
    """Replies by request. A reply follows from its request alone; a failure may not, and is not kept."""

    def __init__(self, most: int = _KEPT) -> None:
        self.is_cleared = False
        """Whether the user had everything computed again."""
        self._known: OrderedDict[object, object] = OrderedDict()
        self._most = most

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
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget all replies."""
        self.is_cleared = True
        self._known.clear()


class SharedReplies:
    """The replies about samples that any session of the server was given.

    A reply about a sample, which every visitor may read, says nothing of who asked first. So that a class that goes to
    the next step, or a new visitor, waits for no worker that computes what another one did.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replies = Replies(_SHARED)

    def get(self, request: Request[R]) -> R | None:
        """Return the reply that any session was given."""
        with self._lock:
            return self._replies.get(request)

    def keep(self, request: Request[R], reply: R | Failure) -> None:
        """Keep a reply for all sessions."""
        with self._lock:
            self._replies.keep(request, reply)


def is_shared(request: Request[R]) -> bool:
    """Tell whether the reply to a request is one that every visitor may be given.

    It is about a sample as it is, on made-up inputs of its own sizes, so that what is kept stays small.
    """
    if not isinstance(request, _SHARED_KINDS):
        return False
    program = getattr(request, "program", None)
    if not isinstance(program, Program):
        return True
    is_changed = program.inputs is not None or program.constants or program.sizes or program.changes or program.rules
    return not is_changed and any(sample.text == program.text for sample in list_samples())


@cache
def shared_replies() -> SharedReplies:
    """Return those of this process; it is no cache of Streamlit's, which any browser can have emptied."""
    return SharedReplies()
