"""The worker of this browser session: asking it, waiting with progress, cancelling."""

import re
import threading
from collections.abc import Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.client import Client
from relax_core.engine.protocol import Failure, Program, Progress, Request, Sample, Samples
from relax_core.jit.options import DEFAULT_OPTIONS, MODES, Mode
from views.replies import Replies
from views.state import Selection, selection
from views.tables import table_text

R = TypeVar("R")

_FIRST_WORD_SECONDS = 0.3
_TICK_SECONDS = 0.1
_WAITING = "Waiting for the worker."
_CANCELLED = "cancelled"
_PLACE: ContextVar[DeltaGenerator | None] = ContextVar("place", default=None)
# The sample that an archive of inputs was uploaded for, and the archive: an address cannot hold it.
_INPUTS = "inputs"
# Only these passes read a table, so that a mistake in it concerns no other program.
_TABLE_PASSES = re.compile("MergeComposite|AnnotateTarget|MergeCompilerRegions")


@st.cache_resource(scope="session", on_release=Client.close, show_spinner=False)
def client() -> Client:
    """Return the client of this session's worker."""
    return Client()


@st.cache_resource(scope="session", show_spinner=False)
def _replies() -> Replies:
    """Return the latest replies of this session's worker."""
    return Replies()


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
    known = _replies().get(request)
    if known is not None:
        return known
    reply = _asked(request)
    _replies().keep(request, reply)
    return reply


def _asked(request: Request[R]) -> R | Failure:
    answer: Future[R | Failure] = Future()
    latest: list[Progress] = []
    worker = client()

    def wait() -> None:
        answer.set_result(worker.request(request, progress=latest.append))

    threading.Thread(target=wait, daemon=True).start()
    try:
        return answer.result(_FIRST_WORD_SECONDS)
    except StillRunning:
        return _wait_in_view(answer, latest, request)


def _wait_in_view(answer: "Future[R | Failure]", latest: list[Progress], request: Request[R]) -> R | Failure:
    # A page may wait for two requests of one type.
    key = _name(request)
    outer = _PLACE.get()
    place = st.empty() if outer is None else outer.empty()
    with place.container(horizontal=True, vertical_alignment="center", gap="small", key=f"busy.{key}"):
        st.button("Cancel", key=f"cancel.{key}", on_click=_cancel, args=(key,))
        words, said = st.empty(), st.empty()
    try:
        announced = ""
        while True:
            words.caption(_words(latest[-1]) if latest else _WAITING)
            text = latest[-1].text if latest else _WAITING
            if text != announced:
                # Apart from the words with the time, which would be read ten times a second.
                said.html(f'<span role="status" class="said">{escape(text)}</span>')
                announced = text
            try:
                result = answer.result(_TICK_SECONDS)
            except StillRunning:
                continue
            place.empty()
            return result
    except BaseException:
        # Streamlit stops a script by raising in it; what the script waits for is of no more use.
        client().cancel()
        raise


def _words(progress: Progress) -> str:
    count = f" {progress.done} of {progress.total}," if progress.total else ""
    return f"{progress.text}.{count} {progress.seconds:.1f} s"


def _name(request: Request[R]) -> str:
    return f"{type(request).__name__}.{hash(request)}"


def _cancel(request: str) -> None:
    st.session_state[_CANCELLED] = request
    client().cancel()


def run_again() -> None:
    """Forget that a request was cancelled, and ask for everything again."""
    st.session_state.pop(_CANCELLED, None)
    _replies().clear()


@st.cache_resource(show_spinner=False, max_entries=1)
def _sample_list() -> tuple[Sample, ...]:
    with Client() as worker:
        reply = worker.request(Samples())
    return () if isinstance(reply, Failure) else reply.samples


def samples() -> dict[str, Sample]:
    """Return the samples by path, in their order."""
    return {sample.path: sample for sample in _sample_list()}


def text_of(current: Selection) -> str:
    """Return the text that is open: the user's, or the sample's."""
    if current.text:
        return current.text
    sample = samples().get(current.sample)
    return sample.text if sample else ""


def mode_of(current: Selection) -> Mode:
    """Return the numerical mode that is chosen, the default one if it is none."""
    return MODES[MODES.index(current.mode)] if current.mode in MODES else DEFAULT_OPTIONS.mode


def sizes_of(text: str) -> tuple[tuple[str, int], ...]:
    """Read sizes as an address holds them, such as `n=64,m=8`; what is none is left out."""
    pairs = (part.partition("=") for part in text.split(","))
    return tuple((name.strip(), int(size)) for name, _, size in pairs if name.strip() and size.strip().isdecimal())


def inputs_of(current: Selection) -> bytes:
    """Return the archive of inputs that the user uploaded for what is open."""
    sample, archive = st.session_state.get(_INPUTS, ("", b""))
    return archive if sample == current.sample else b""


def keep_inputs(archive: bytes) -> None:
    """Run what is open on the inputs of an archive, on made-up ones if it is empty."""
    st.session_state[_INPUTS] = (selection().sample, archive)


def program_of(current: Selection) -> Program:
    """Return what the engine needs to know of the selection."""
    text = text_of(current)
    return Program(
        text=text,
        name=current.sample.rsplit("/", 1)[-1],
        module=current.module,
        pipeline=current.pipeline or None,
        entry=current.entry,
        seed=current.seed,
        inputs=inputs_of(current),
        sizes=sizes_of(current.dims),
        tables=table_text(current, text) if _TABLE_PASSES.search(current.pipeline) else "",
        mode=mode_of(current),
        finds_uninitialised=bool(current.unwritten),
    )
