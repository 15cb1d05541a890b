"""The line that tells of the class on each page, and the way to where its teacher sent everybody."""

import streamlit as st

from relax_core.lessons.classroom import Classroom, Destination
from relax_core.lessons.library import lesson_named
from views.classroom import membership as own
from views.classroom.news.component import Asker, news_chip, news_of
from views.lessons.keeper.component import KeeperAction, Kept, keeper
from views.lessons.steps import open_step
from views.shell.navigation import ask_for_page, open_page
from views.state.address import read_address
from views.state.session import complain, is_left_out, select, show, state, written_address
from views.state.shared import ClassState, LessonState


def arrive(*, is_lesson_page: bool) -> None:
    """Take up what this tab is in a class, and go where everybody was sent; called at the start of a page."""
    found, code = own.membership(), state(ClassState).room
    if found is None and not code:
        return
    with st.container(key="class.kept"):
        kept = Kept("" if found is None else found.to_text(), name="class", is_of_tab=True)
        keeper(kept, key="class.keeper", on_action=_on_kept)
    if found is None:
        return
    if code != found.code:
        select(room=found.code)
    known = own.room()
    if known is None:
        return
    lesson = state(LessonState)
    if found.is_teacher and is_lesson_page and lesson.lesson == known.lesson and lesson.lesson_step != known.step:
        own.lead(lambda room: room.at(lesson.lesson_step))
    destination = own.call_to_follow(known)
    if destination is not None:
        go(destination)


def _on_kept(action: KeeperAction) -> None:
    code = state(ClassState).room
    if own.membership() is None and code:
        own.restore(action.text, code)


def go(destination: Destination) -> None:
    """Open what everybody is to see."""
    file = lesson_named(destination.lesson) if destination.lesson else None
    if file is not None:
        open_step(file, destination.step)
    elif destination.page:
        show(read_address(dict(destination.address)).selection)
        open_page(destination.page)


def show_strip(page: str) -> None:
    """Show the class in a bar; nothing if this browser is in none. `page` is the one that the bar is of."""
    known, found = own.room(), own.membership()
    if known is None or found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="class.strip"):
        asker = Asker(found.role, found.code, found.token, *own.shown())
        # A call that came since the page began is news: `arrive` has not followed it.
        news_chip(asker, news_of(known, found, own.now(), call=own.followed()), key="class.news")
        if found.is_teacher:
            st.fragment(_teacher_buttons)(page)
        else:
            _member_buttons(known)


def _member_buttons(known: Classroom) -> None:
    if known.sent.is_set:
        help_text = "Open what everybody was sent to"
        st.button("To the class", key="class.back", help=help_text, on_click=own.follow_again)
    st.button("✕", key="class.leave", type="tertiary", help="Leave the class", on_click=own.leave)


def _teacher_buttons(page: str) -> None:
    words = "Questions, counts and timer in large type"
    st.button("To the class", key="class.projector", help=words, on_click=ask_for_page, args=("classroom",))
    if st.button("Everyone here", key="class.here", help="Open this screen in every browser of the class"):
        _send_here(page)


def _send_here(page: str) -> None:
    lesson, left_out = state(LessonState), is_left_out()
    if lesson.lesson:
        own.lead(lambda room: room.everyone_to(Destination(lesson=lesson.lesson, step=lesson.lesson_step)))
        return
    if left_out:
        words = ", ".join(left_out)
        complain(f"Nobody was sent here: this screen has no address, which would be too long for one with {words}.")
        st.rerun()
    address = tuple(written_address().items())
    own.lead(lambda room: room.everyone_to(Destination(page=page, address=address)))
