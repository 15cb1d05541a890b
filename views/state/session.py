"""What the user looks at, kept in the session and in the address of the page."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from views.manifests import MANIFESTS
from views.state.address import LINK, changed_values, left_out, read_address, to_address, within
from views.state.inputs import inputs_for, keep_inputs_for
from views.state.links import KeptLink, KeptScreen, LinkError, days_kept, find, keep, links_place
from views.state.rules import whole
from views.state.selection import Selection, screen
from views.state.shared import ClassState, ProgramState

S = TypeVar("S")

_KEY = "selection"
_WRITTEN = "address"
_PAGE = "address.page"
_COMPLAINTS = "address.complaints"
_LINE = "source.line"
_PART_OF = "kernels.line"
_FIRST_VISIT = "first_visit"
# The screen of the text that was dropped last.
_DROPPED = "dropped"
# The link that what is too long for the address was kept by, and the values of its screen.
_LINK = "link"


@dataclass(frozen=True, slots=True)
class _Reached:
    """A node of a graph that was gone to, the groups that are open for it, and the text that it is of."""

    way: tuple[str, ...]
    node: str
    text: tuple[str, str]


def take_address() -> None:
    """Take the selection from the address if the browser came to this page by one.

    On a page that is open already the address says nothing new: the browser sends with every message the one that it
    has, which may be older than the last change of the selection.
    """
    address = dict(st.query_params)
    page = shown_page()
    if _KEY not in st.session_state:
        st.session_state[_FIRST_VISIT] = not address
    has_come = page != st.session_state.get(_PAGE) and address and address != _written()[1]
    if _KEY not in st.session_state or has_come:
        kept, said = _kept_screen(address.get(LINK, ""))
        values = None if kept is None else kept.values
        current, complaints = read_address(address, st.session_state.get(_KEY), values)
        st.session_state[_KEY], st.session_state[_COMPLAINTS] = current, (*said, *complaints)
        if kept is not None:
            _take_kept(address[LINK], kept, current.of(ProgramState))
    st.session_state[_PAGE] = page


def _kept_screen(name: str) -> tuple[KeptScreen | None, tuple[str, ...]]:
    """Return the screen of a link, or why there is none."""
    place = links_place()
    if not name or place is None:
        return None, ("This server keeps no links: what the link leads to is not known here.",) if name else ()
    try:
        found = find(name, place)
    except LinkError as error:
        return None, (f"The link could not be followed: {error}.",)
    if found is None:
        days = days_kept()
        return None, (f"The link is not known here: the server that made it keeps one for {days} days.",)
    return found, ()


def _take_kept(name: str, kept: KeptScreen, program: ProgramState) -> None:
    st.session_state[_LINK] = (name, kept.values)
    keep_inputs_for(program.sample, kept.inputs, program.fed)
    for page, groups in kept.opened.items():
        st.session_state[f"{page}.opened"] = groups


def keep_screen() -> KeptLink | str:
    """Keep what is selected, the inputs and the opened groups on this server; return its link, or why there is none."""
    place = links_place()
    if place is None:
        return "this server keeps no links"
    current = selection()
    opened = {page: groups for page in MANIFESTS if (groups := opened_groups(page))}
    values = changed_values(current.changed(room=""))
    try:
        program = current.of(ProgramState)
        link = keep(KeptScreen(values, opened, inputs_for(program.sample, program.fed)), place)
    except LinkError as error:
        return str(error)
    st.session_state[_LINK] = (link.name, values)
    # What was left out of the address now stands in the link.
    st.session_state.pop(_WRITTEN, None)
    return link


@contextmanager
def screen_of_page() -> Generator[None]:
    """Take the address, write that of the selection, and write it again behind the page.

    Streamlit empties the address when a page is left; it is then written again.

    The address is written here alone: Streamlit may end a script wherever it says something to the browser, and what
    handles a message of the browser has to come to its end.
    """
    take_address()
    _write_address()
    yield
    _write_address()


def selection() -> Selection:
    """Return what is selected."""
    known = st.session_state.get(_KEY)
    return known if isinstance(known, Selection) else screen()


def state(record: type[S]) -> S:
    """Return a record of the selection."""
    return selection().of(record)


def complaints() -> tuple[str, ...]:
    """Return what was wrong with the address that the user came by, until it is dismissed."""
    return st.session_state.get(_COMPLAINTS, ())


def complain(text: str) -> None:
    """Say with what was wrong with the address that another part of it does not fit what is open."""
    st.session_state[_COMPLAINTS] = tuple(dict.fromkeys((*complaints(), text)))


def dismiss_complaints() -> None:
    """Dismiss the complaints about the address."""
    st.session_state[_COMPLAINTS] = ()


def written_address() -> dict[str, str]:
    """Return the address of what is selected."""
    return _address_of(selection())


def is_left_out() -> tuple[str, ...]:
    """Return the fields that are too long for the address, and live in the session only."""
    address = written_address()
    return () if LINK in address else left_out(address)


def is_first_look() -> bool:
    """Tell whether this tab has not shown any page yet."""
    return _KEY not in st.session_state


def is_first_visit() -> bool:
    """Return whether the session began without an address, so that nothing of this app may be known yet."""
    return bool(st.session_state.get(_FIRST_VISIT))


def show(screen: Selection) -> None:
    """Look at another screen, in the same class."""
    st.session_state[_KEY] = screen.changed(room=state(ClassState).room)


def select(**changes: str | int) -> Selection:
    """Change the selection; unknown field names are a mistake of the caller."""
    new = selection().changed(**_sound(changes))
    st.session_state[_KEY] = new
    return new


def _sound(changes: dict[str, str | int]) -> dict[str, str | int]:
    """Return `changes` with values that an address can hold, since a browser may send anything."""
    return {name: whole(value) if isinstance(value, str) else value for name, value in within(changes).items()}


def opened_groups(page: str) -> tuple[str, ...]:
    """Return the groups of the graph of `page` that are open: the user opened them, or went to a node in them."""
    return tuple(dict.fromkeys((*_opened_by_hand(page), *_reached(page).way)))


def reached_nodes(page: str) -> tuple[str, ...]:
    """Return the node of the graph of `page` that the user went to where it was not drawn, if there is one."""
    node = _reached(page).node
    return (node,) if node else ()


def reach(page: str, node: str, way: tuple[str, ...]) -> None:
    """Open the way to a node of the graph of `page`, and close the way to the one before."""
    st.session_state[f"{page}.reached"] = _Reached(tuple(whole(group) for group in way), whole(node), _opened_text())


def _reached(page: str) -> "_Reached":
    """Return what was gone to in the text that is open: a node of another text has the same name there."""
    known = st.session_state.get(f"{page}.reached")
    if isinstance(known, _Reached) and known.text == _opened_text():
        return known
    return _Reached((), "", ("", ""))


def _opened_text() -> tuple[str, str]:
    program = state(ProgramState)
    return program.sample, program.text


def _opened_by_hand(page: str) -> tuple[str, ...]:
    return st.session_state.get(f"{page}.opened", ())


def open_group(page: str, group: str) -> None:
    """Open a group of the graph of `page`."""
    st.session_state[f"{page}.opened"] = (*_opened_by_hand(page), group)


def close_group(page: str, group: str) -> None:
    """Fold a group of the graph of `page`, with those in it."""

    def kept(groups: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item for item in groups if item != group and not item.startswith(f"{group}/"))

    st.session_state[f"{page}.opened"] = kept(_opened_by_hand(page))
    reached = _reached(page)
    way = kept(reached.way)
    if way != reached.way:
        reach(page, "", way)


def go_to_line(line: int) -> None:
    """Scroll the Source page to a line of the text."""
    _, number = line_to_show()
    st.session_state[_LINE] = (line, number + 1)


def find_part(line: int) -> None:
    """Let the Kernels page select the part of its kernel that a line of the text became."""
    st.session_state[_PART_OF] = line


def line_of_part() -> int:
    """Return the line whose part of a kernel was asked for, once; 0 for none."""
    return st.session_state.pop(_PART_OF, 0)


def line_to_show() -> tuple[int, int]:
    """Return the line that was last asked for and how often one was; 0 for none."""
    return st.session_state.get(_LINE, (0, 0))


def open_sample(path: str) -> None:
    """Open a sample from its start; the edits of what is open can be brought back."""
    _keep_edits()
    show(selection().kept("always").changed(sample=path))


def open_text(text: str, *, sample: str = "") -> None:
    """Open a text in place of what is open; what was selected in the old text is dropped.

    `sample` is the name of the file that it comes from; without one the text is an edit of what is open.
    """
    if sample:
        _keep_edits()
    current = selection()
    sample = whole(sample) or current.of(ProgramState).sample
    # An empty text would mean the unchanged sample.
    show(current.kept("edit").changed(sample=sample, text=whole(text) or "\n"))


def _keep_edits() -> None:
    """Remember the screen of a text that is about to be dropped."""
    current = selection()
    if current.of(ProgramState).text:
        st.session_state[_DROPPED] = current


def dropped_edits() -> Selection | None:
    """Return the screen of the text that was dropped last in this session, until it is brought back."""
    return st.session_state.get(_DROPPED)


def bring_back_edits() -> None:
    """Look at the text that was dropped last again, as it was looked at then."""
    dropped = st.session_state.pop(_DROPPED, None)
    if dropped is not None:
        show(dropped)


def shown_page() -> str:
    """Return what Streamlit knows the page by that is shown."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.page_script_hash


def _write_address() -> None:
    current = selection()
    address = _address_of(current)
    if dict(st.query_params) != address:
        st.query_params.from_dict(address)
    st.session_state[_WRITTEN] = (current, address)


def _written() -> tuple[Selection | None, dict[str, str]]:
    return st.session_state.get(_WRITTEN, (None, {}))


def _address_of(current: Selection) -> dict[str, str]:
    """Return the address of `current`; that of the selection that was written last is not made again."""
    known, address = _written()
    if known is current:
        return address
    address = to_address(current)
    name, kept = st.session_state.get(_LINK, ("", {}))
    missing = left_out(address)
    if name and missing and all(kept.get(field) == current.values()[field] for field in missing):
        address[LINK] = name
    return address
