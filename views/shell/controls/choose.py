"""A box in which one of several things is chosen, as the selection has it."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import streamlit as st

from relax_core.present.escape import literal

T = TypeVar("T")


class Look(TypedDict, total=False):
    """How a box looks, as Streamlit names it."""

    format_func: Callable[[Any], str]
    width: int | Literal["stretch"]
    help: str
    placeholder: str
    label_visibility: Literal["visible", "hidden", "collapsed"]


def choose(
    label: str,
    options: Sequence[T],
    chosen: T | None,
    picked: Callable[[T], object],
    *,
    key: str,
    **look: Unpack[Look],
) -> None:
    """Show `chosen` among `options`, or the placeholder if it is none of them, and tell `picked` what the user takes.

    The selection has the say: what the box had before is dropped. The label is read by screen readers alone, unless
    `label_visibility` says otherwise.
    """
    st.session_state[key] = chosen if chosen in options else None

    def changed() -> None:
        value: T | None = st.session_state[key]
        if value is not None:
            picked(value)

    shown: Look = {"label_visibility": "collapsed", **look}
    st.selectbox(literal(label), options, key=key, on_change=changed, **shown)
