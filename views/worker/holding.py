"""The worker of a browser session, owned by the session and closed with it.

It cannot live in Streamlit's caches. The message `clear_cache`, which any browser can send, empties them for the whole
server, session-scoped ones included, and would end every visitor's work; the state of a session is reached by its own
messages only. But Streamlit keeps that state for a while after the tab is closed, so a thread polls whether the session
is connected. A tab that comes back starts a worker anew.
"""

import itertools
import threading
import weakref
from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers
from views.worker.replies import Replies

_KEY: Final = "worker"
_LOOK_SECONDS: Final = 0.5


class Holding:
    """A client and the latest replies of its worker. The client is closed with the session or with this object."""

    def __init__(self, session: str) -> None:
        self.client = Client(launcher=forked_workers())
        self.replies = Replies()
        self.waits = itertools.count()
        self.is_over = threading.Event()
        keeper = threading.Thread(
            target=_keep, args=(weakref.ref(self), self.client, self.is_over, session), name="keeper", daemon=True
        )
        keeper.start()


def holding() -> Holding:
    """Return the holding of this session, a new one at first and after a disconnect."""
    held = st.session_state.get(_KEY)
    if not isinstance(held, Holding) or held.is_over.is_set():
        context = get_script_run_ctx(suppress_warning=True)
        held = st.session_state[_KEY] = Holding(context.session_id if context else "")
    return held


def _keep(held: weakref.ref[Holding], client: Client, is_over: threading.Event, session: str) -> None:
    """Close `client` once nothing holds it any more or its session is not connected."""
    while held() is not None and _is_connected(session):
        is_over.wait(_LOOK_SECONDS)
    is_over.set()
    client.close()


def _is_connected(session: str) -> bool:
    """Tell whether a browser has the session open; true without a server, as in tests."""
    try:
        return runtime.get_instance().is_active_session(session)
    except RuntimeError:
        return True
