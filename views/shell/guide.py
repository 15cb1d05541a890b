"""What `?` opens: the guide of the page, all other documents, what a name means, and the keys; and a diagnostic."""

from itertools import accumulate
from typing import Final

import streamlit as st

from relax_core.engine.documents.guides import Guide, guide_of, guides
from relax_core.engine.documents.paragraphs import Paragraph, paragraph_of
from relax_core.lessons.explaining import lessons_about
from relax_core.present.escape import authored, badge, bold, literal, prose, table
from views.lessons.words import show_words
from views.manifest import KeyGroup
from views.manifests import MANIFESTS
from views.shell.explaining import explain, show_lessons, show_meanings
from views.state.dialogs import (
    CHOSEN_GUIDE,
    Documents,
    Meaning,
    ask_for_guide,
    ask_for_meaning,
    close_dialog,
    leave_dialog,
    open_dialog,
)
from views.state.session import open_sample, open_text

_LOOKED_UP: Final = "guide.looked_up"
_WANTED_KEY: Final = "guide.key"
_MOST_SEE: Final = 8
_EVERYWHERE: Final[KeyGroup] = (
    "Everywhere",
    (
        ("`Ctrl` `K`", "everything that can be done or opened"),
        ("`?`", "guide and keys"),
        ("`/`", "search"),
        ("`p` `Esc`", "inspector in a narrow window"),
    ),
)


def offer_help(page: str) -> None:
    """Offer the guide of a page, with the keys."""
    # A click that comes along with a component's message is heard all the same before the script runs.
    st.button("?", key="bar.keys", help="Guide and keys", on_click=_open_help, args=(page,))


def _open_help(page: str) -> None:
    wanted = guide_of(page)
    ask_for_guide(next((guide.path for guide in guides() if guide.path == wanted), guides()[0].path))


@st.dialog("Help", width="large", on_dismiss=close_dialog)
def _help() -> None:
    text, names, keys = st.tabs(["Guide", "Look up", "Keys"])
    with text:
        _show_guide({guide.path: guide for guide in guides()})
    with names:
        _look_up()
    with keys:
        _show_keys()


def _show_guide(known: dict[str, Guide]) -> None:
    chosen = st.selectbox(
        "Document",
        list(known),
        key=CHOSEN_GUIDE,
        format_func=lambda path: known[path].title,
        label_visibility="collapsed",
    )
    guide = known[chosen]
    st.markdown(f"## {literal(guide.title)}")
    show_words(guide.text, "words.guide")
    st.markdown(authored(guide.text))
    if guide.see:
        st.caption("See also")
        with st.container(horizontal=True, gap="xsmall"):
            for path in guide.see[:_MOST_SEE]:
                label = literal(known[path].title)
                st.button(label, key=f"guide.see.{path}", on_click=_choose, args=(path,))


def _look_up() -> None:
    """Tell what a name means that stands anywhere in the app, or in a terminal."""
    label = "A pass, code, operator, instruction or word"
    name = st.text_input(label, key=_LOOKED_UP, placeholder="Such as FuseOps, TY012, R.matmul or frame").strip()
    if not name:
        return
    code = paragraph_of(name.upper())
    if code is not None:
        _show_paragraph(code)
        return
    show_meanings(name)


def _choose(path: str) -> None:
    st.session_state[CHOSEN_GUIDE] = path


def key_columns(wanted: str = "") -> tuple[tuple[KeyGroup, ...], tuple[KeyGroup, ...]]:
    """Return the keys of all pages in two columns of about one height; pages whose keys are alike are told of once.

    With `wanted`, only those whose page, letters or deed have it, in any case.
    """
    titles: dict[tuple[tuple[str, str], ...], str] = {}
    for title, keys in (_EVERYWHERE, *(group for item in MANIFESTS.values() for group in item.keys)):
        titles[keys] = f"{titles[keys]}, {title.lower()}" if keys in titles else title
    groups = tuple(filter(None, (_matching(title, keys, wanted.lower()) for keys, title in titles.items())))
    if not groups:
        return (), ()
    heights = tuple(accumulate(len(keys) + 1 for _, keys in groups))
    split = next(number for number, height in enumerate(heights, 1) if 2 * height >= heights[-1])
    return groups[:split], groups[split:]


def _matching(title: str, keys: tuple[tuple[str, str], ...], wanted: str) -> KeyGroup | None:
    found = keys if wanted in title.lower() else tuple(row for row in keys if wanted in " ".join(row).lower())
    return (title, found) if found else None


def _show_keys() -> None:
    label = "A key, or what it does"
    wanted = st.text_input(label, key=_WANTED_KEY, placeholder="Such as step, Ctrl or Passes").strip()
    columns = key_columns(wanted)
    if not any(columns):
        st.caption(prose(f"No key has `{wanted}` in what it does."))
        return
    with st.container(key="keys"):
        for column, groups in zip(st.columns(len(columns), gap="large"), columns, strict=True):
            for title, keys in groups:
                column.markdown(f"{bold(title)}\n\n{table(('Key', ''), keys)}")


def show_dialog() -> None:
    """Show the dialog that is open, if one is that every page has: documents, a paragraph, or what names mean."""
    try:
        match open_dialog():
            case Documents():
                _help()
            case Meaning((name,), "") if paragraph := paragraph_of(name):
                _show_diagnostic(paragraph)
            case Meaning(names, about):
                explain(names, about)
            case _:
                pass
    except Exception:
        # A mistake is not made again in every run.
        close_dialog()
        raise


def offer_paragraph(code: str, key: str, label: str = "", *, color: str = "red") -> bool:
    """Show a code, or a label with it, which opens its paragraph with a program that has it; tell of a click."""
    words = "What it means, and a program that has it"
    # A click that comes along with a component's message is heard all the same before the script runs.
    return st.button(
        badge(label or code, color), key=key, type="tertiary", help=words, on_click=ask_for_meaning, args=(code,)
    )


@st.dialog("Diagnostic", width="large", on_dismiss=close_dialog)
def _show_diagnostic(found: Paragraph) -> None:
    """Show what a code means, a program that has it, and that program mended."""
    _show_paragraph(found)


def _show_paragraph(found: Paragraph) -> None:
    st.markdown(f"## {literal(found.code)}\n\n{prose(found.text)}")
    show_words(found.text, "words.code")
    show_lessons(lessons_about(found.code))
    if not found.sample:
        return
    language = None if found.sample.endswith(".relay") else "python"
    st.markdown(f"{prose(f'`samples/{found.sample}` has it, where a line ends in `! {found.code}`:')}")
    st.code(found.failing, language=language)
    if st.button("Open this program", key="guide.failing", on_click=open_sample, args=(found.sample,)):
        leave_dialog()
    if found.mended:
        st.markdown("Mended:")
        st.code(found.mended, language=language)
        if st.button("Open the mended program", key="guide.mended", on_click=_open_mended, args=(found,)):
            leave_dialog()


def _open_mended(found: Paragraph) -> None:
    open_text(found.mended, sample=found.sample.rpartition("/")[2])
