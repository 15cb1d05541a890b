"""The menu of sharing: address, short link with its QR code, markup that embeds a view, files of what is too long."""

from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

import segno
import streamlit as st

from relax_core.present.escape import file_name, literal
from views.embed.addresses import VIEW_OF, EmbeddedView, frame_markup
from views.shell.headers import VARIABLE, embedding_origins
from views.state.address import LINK, LONGEST_ADDRESS
from views.state.links import KeptLink, links_place
from views.state.session import is_left_out, keep_screen, selection, written_address

_PARTS = MappingProxyType(
    {
        "text": "the text",
        "table_text": "the table of patterns",
        "rule_text": "the rewrite rules",
        "pipeline": "the pipeline",
    }
)
"""Names, for people, of the fields of a selection that may be long."""

# The screen that a link was last asked for, and the link or why there is none.
_MADE: Final = "share.made"


def show_sharing(noun: str) -> None:
    """Show the address of the screen of a page, offer a short link to it, and the markup that embeds its view."""
    missing = is_left_out()
    if missing:
        _offer_left_out(missing)
    else:
        st.caption("This address reproduces the screen: text, passes, stage, node and time.")
        st.code(_with(written_address()), language=None, wrap_lines=True)
    if links_place() is not None:
        _offer_link()
    if noun in VIEW_OF and not missing:
        _offer_frame(VIEW_OF[noun])


def _offer_frame(view: EmbeddedView) -> None:
    """Offer the markup that shows a view in a page or slide."""
    with st.expander(literal(f"Embed the {view}")):
        st.code(frame_markup(view), language=None, wrap_lines=True)
        if not embedding_origins():
            st.caption(literal(f"This server lets no other host show it: {VARIABLE} would name those that may."))


def _offer_link() -> None:
    """Offer to keep the screen on the server, and show the link to it while it is the screen that is shown."""
    words = "Keep this screen, its inputs and opened groups on the server"
    st.button("Short link", key="share.link", help=words, on_click=_make_link)
    made, link = st.session_state.get(_MADE, (None, None))
    if made is not selection():
        return
    match link:
        case KeptLink(name=name, until=until):
            address = _with({LINK: name})
            st.code(address, language=None, wrap_lines=True)
            st.caption(literal(f"This server keeps the screen until {until:%-d %B %Y}."))
            st.image(_qr_code(address), width=190)
        case str(why):
            st.warning(literal(f"There is no link: {why}."))
        case _:
            pass


def _make_link() -> None:
    st.session_state[_MADE] = (selection(), keep_screen())


def _with(parameters: Mapping[str, str]) -> str:
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(parameters)}"


def _qr_code(address: str) -> bytes:
    """Draw an address for a camera."""
    picture = BytesIO()
    segno.make(address, micro=False).save(picture, kind="png", scale=6, border=3)
    return picture.getvalue()


def _offer_left_out(names: tuple[str, ...]) -> None:
    """Explain why this screen has no address, and offer as files what it cannot hold."""
    values = selection().values()
    parts = " and ".join(_PARTS.get(name, name.replace("_", " ")) for name in names)
    words = f"There is no address of this screen: it would have more than {LONGEST_ADDRESS:,} characters with {parts}."
    how = "as a file" if links_place() is None else "as a file, or by a short link"
    st.warning(literal(f"{words} This tab keeps it; give it away {how}."))
    for name in names:
        content = str(values[name])
        given = (
            file_name(str(values["sample"]))
            if name == "text"
            else f"{name}.{'json' if name == 'table_text' else 'txt'}"
        )
        label = literal(f"Download {_PARTS.get(name, name)}")
        st.download_button(label, content, given, key=f"share.{name}", on_click="ignore")
