"""What a page shows instead of a reply: what happened, where in the text, and what to do."""

import streamlit as st

from relax_core.engine.protocol import Failure
from relax_core.present.escape import bold, bullets, literal, prose, sentence
from relax_core.present.models import Problem
from views.shell.guide import offer_paragraph
from views.shell.navigation import ask_for_line, ask_for_page
from views.state.session import open_sample, select, state
from views.state.shared import ProgramState
from views.worker.connection import run_again
from views.worker.program import given_program, samples

_NOTHING_TO_RUN = "EN009"
"""The code for arguments that cannot be generated, which is not a mistake of the program."""
_SHOWN = 8


def show_failure(failure: Failure) -> None:
    """Show what happened, and what the user can do."""
    with st.container(key="failure", gap="small"):
        match failure.problems:
            case (Problem(code=code, message=message, hint=hint),) if code == _NOTHING_TO_RUN:
                st.info(sentence(failure.title, f"{message}: {hint}."))
            case ():
                st.error(sentence(failure.title, failure.message))
            case problems:
                _show_problems(failure.title, problems)
        if failure.kind == "diagnosed":
            with st.container(horizontal=True, gap="xsmall"):
                # A click in a dialog runs that alone.
                if st.button("Open the source", key="failure.source", on_click=ask_for_page, args=("source",)):
                    st.rerun()
                if state(ProgramState).pipeline:
                    st.button("Default pipeline", key="failure.pipeline", on_click=_use_default_pipeline)
        else:
            st.button("Run again", key="failure.again", on_click=run_again)


def show_reason(failure: Failure, key: str) -> None:
    """Say in one line why a part of a page is not there, with the way to what its code means; in a dialog as well."""
    first = next(iter(failure.problems), None)
    st.info(sentence(failure.title, failure.message if first is None else first.message))
    # A click in a dialog runs that alone, and two dialogs cannot be open.
    if first is not None and offer_paragraph(first.code, f"{key}.code"):
        st.rerun()


def _use_default_pipeline() -> None:
    select(pipeline="", stage=-1, time=-1)


def show_offer(page: str, title: str, text: str, paths: tuple[str, ...]) -> None:
    """Show why a page has nothing for this module, and offer samples for which it has."""
    known = samples()
    with st.container(key="offer", gap="small", horizontal_alignment="center"):
        st.markdown(bold(title), text_alignment="center")
        st.markdown(prose(text), text_alignment="center")
        with st.container(horizontal=True, horizontal_alignment="center", gap="xsmall"):
            for path in paths:
                if path in known:
                    st.button(literal(known[path].title), key=f"{page}.open.{path}", on_click=open_sample, args=(path,))


def _show_problems(title: str, problems: tuple[Problem, ...]) -> None:
    errors = tuple(problem for problem in problems if problem.severity == "error") or problems
    where = "the pipeline" if errors[0].excerpt else state(ProgramState).sample.rsplit("/", 1)[-1]
    count = f"{len(errors)} problem{'' if len(errors) == 1 else 's'} in {where}"
    st.error(sentence(title, count))
    show_problems(errors[:_SHOWN])
    if len(errors) > _SHOWN:
        st.caption(literal(f"{len(errors) - _SHOWN} more are listed below the text."))


def show_problems(problems: tuple[Problem, ...], first: int = 0) -> None:
    """Show each problem with its place in the text of the program, its hint and what its code means.

    `first` numbers the first one: a page that shows several lists counts on.
    """
    lines = given_program().text.split("\n")
    for number, problem in enumerate(problems, first):
        _show_problem(number, problem, lines)


def _show_problem(number: int, problem: Problem, lines: list[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        offer_paragraph(problem.code, f"failure.code.{number}")
        st.markdown(prose(problem.message), width="content")
        is_placed = 0 < problem.line <= len(lines) and not problem.excerpt
        label = literal(f"Go to line {problem.line}")
        key, line = f"failure.line.{number}", problem.line
        if is_placed and st.button(label, key=key, type="tertiary", on_click=ask_for_line, args=(line,)):
            st.rerun()
    if is_placed or problem.excerpt:
        st.code(_excerpt(problem, problem.excerpt or lines[problem.line - 1]), language=None)
    if problem.hint:
        st.markdown(prose(f"Hint: {problem.hint}"))
    if problem.related:
        st.markdown(bullets(f"line {place.line}: {place.message}" for place in problem.related))
    if problem.explanation:
        st.caption(prose(problem.explanation))


def _excerpt(problem: Problem, text: str) -> str:
    """Return the line with its number, and a line of carets below."""
    number = f"{problem.line}  "
    end = problem.end_column if problem.end_line == problem.line else len(text) + 1
    carets = "^" * max(1, end - problem.column)
    return f"{number}{text}\n{' ' * (len(number) + problem.column - 1)}{carets}"
