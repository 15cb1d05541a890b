"""Asking the worker of this browser session, waiting with progress, cancelling."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.protocol import Failure, Progress, Request
from relax_core.present.escape import markup, prose
from views.worker.holding import holding
from views.worker.replies import SharedReplies, is_shared, shared_replies

R = TypeVar("R")

_LOG: Final = logging.getLogger(__name__)

_FIRST_WORD_SECONDS = 0.3
_TICK_SECONDS = 0.1
_WAITING = "Waiting for the worker"
# The limits of the engine are far below; this ends a wait that they fail to end.
_LONGEST_SECONDS: Final = 900
_CANCELLED = "cancelled"
_PLACE: ContextVar[DeltaGenerator | None] = ContextVar("place", default=None)


def client() -> Client:
    """Return the client of this session's worker."""
    return holding().client


@contextmanager
def waiting_in(place: DeltaGenerator) -> Generator[None]:
    """Say in `place` what is waited for, which a page has whether or not it waits.

    If it stood among what the page shows, all that is below would be in another place when the page runs again and
    need not wait: Streamlit would show it twice meanwhile, and make it anew without what the user has begun there.
    """
    before = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(before)


def ask(request: Request[R]) -> R | Failure:
    """Ask the worker; after 300 ms the page shows what it does, with a button to cancel."""
    if st.session_state.get(_CANCELLED) == _name(request):
        return Failure("cancelled", "Cancelled", "The request was cancelled. Change something, or run it again.")
    known = known_reply(request)
    if known is not None:
        return known
    held = holding()
    reply = _asked(held.client, request, next(held.waits))
    held.replies.keep(request, reply)
    if (shared := _shared(request)) is not None:
        shared.keep(request, reply)
    return reply


def known_reply(request: Request[R]) -> R | None:
    """Return the reply that is kept for a request, without asking the worker."""
    known = holding().replies.get(request)
    shared = _shared(request) if known is None else None
    return known if shared is None else shared.get(request)


def _shared(request: Request[R]) -> SharedReplies | None:
    """Return the replies of all sessions if that to a request is one of them, and this one asks for nothing anew."""
    return shared_replies() if is_shared(request) and not holding().replies.is_cleared else None


def keep_reply(request: Request[R], reply: R) -> None:
    """Keep a reply that was completed here, in place of the one that the worker gave."""
    holding().replies.keep(request, reply)


def later(request: Request[R], read: Callable[[R], str]) -> Callable[[], str]:
    """Return what a download button calls once it is pressed, so that a page need not wait for a file that few save.

    It runs on a thread of its own, without the session: the worker is taken from it here.

    Raises:
        RuntimeError: (when called) the worker could not write the file; the server logs it, and the browser says so.
    """
    worker = holding().client

    def write() -> str:
        reply = worker.request(request)
        if isinstance(reply, Failure):
            raise RuntimeError(f"{reply.title}: {reply.message}")
        return read(reply)

    return write


def _asked(worker: Client, request: Request[R], number: int) -> R | Failure:
    answer: Future[R | Failure] = Future()
    latest: list[Progress] = []
    ticket = Ticket()
    began = time.monotonic()

    def wait() -> None:
        # The page must get an answer whatever happens here, for nobody else sets it.
        try:
            reply = worker.request(request, progress=latest.append, ticket=ticket)
            if isinstance(reply, Failure) and reply.kind == "crash" and reply.is_restarted:
                # The worker may have been killed from outside; a program that kills it will do so again.
                reply = worker.request(request, progress=latest.append, ticket=ticket)
            answer.set_result(reply)
        except BaseException as error:
            answer.set_result(_unanswered(request, error))

    threading.Thread(target=wait, daemon=True).start()
    try:
        return answer.result(_FIRST_WORD_SECONDS)
    except StillRunning:
        return _wait_in_view(_Wait(worker, ticket, answer, latest, began), _name(request), number)


def _unanswered(request: Request[R], error: BaseException) -> Failure:
    """Return the failure of a request that was not answered, and log the reason."""
    _LOG.error("%s was not answered", type(request).__name__, exc_info=error)
    return Failure("internal", "Mistake in RelaxScope", "The request was not answered; the server's log says why.")


@dataclass(frozen=True, slots=True)
class _Wait(Generic[R]):
    """A request that is not answered yet."""

    worker: Client
    ticket: Ticket
    answer: "Future[R | Failure]"
    said: Sequence[Progress]
    began: float


def _wait_in_view(wait: _Wait[R], name: str, number: int) -> R | Failure:
    # A page may wait more than once for one request, whose first reply was a failure.
    key = f"{name}.{number}"
    outer = _PLACE.get()
    place = st.empty() if outer is None else outer.empty()
    try:
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key=f"busy.{key}"):
            st.button("Cancel", key=f"cancel.{key}", on_click=_cancel, args=(name,))
            shown, announced = st.empty(), st.empty()
        reply = _answer_of(wait, shown, announced)
    except BaseException:
        # Streamlit stops a script by raising in it: what this script waits for is of no more use. Only that is
        # cancelled, since the script that takes its place runs beside it by now, and may wait already.
        wait.worker.cancel(wait.ticket)
        raise
    place.empty()
    return reply


def _answer_of(wait: _Wait[R], shown: DeltaGenerator, announced: DeltaGenerator) -> R | Failure:
    """Wait for the answer, showing progress and the time so far."""
    heard = ""
    while True:
        seconds = time.monotonic() - wait.began
        progress = wait.said[-1] if wait.said else Progress(_WAITING)
        shown.caption(prose(_words(progress, seconds)))
        if progress.text != heard:
            # Kept apart from the text with the time, which a screen reader would read ten times a second.
            announced.html(f'<span role="status" class="said">{markup(progress.text)}</span>')
            heard = progress.text
        with suppress(StillRunning):
            return wait.answer.result(_TICK_SECONDS)
        if seconds > _LONGEST_SECONDS:
            wait.worker.cancel(wait.ticket)
            return Failure("limit", "Stopped", f"There was no answer within {_LONGEST_SECONDS:,} s.")


def _words(progress: Progress, seconds: float) -> str:
    count = f" {progress.done} of {progress.total}," if progress.total else ""
    return f"{progress.text}.{count} {seconds:.1f} s"


def _name(request: Request[R]) -> str:
    return f"{type(request).__name__}.{hash(request)}"


def _cancel(request: str) -> None:
    st.session_state[_CANCELLED] = request
    client().cancel()


def run_again() -> None:
    """Forget that a request was cancelled, and ask for everything again."""
    st.session_state.pop(_CANCELLED, None)
    holding().replies.clear()
