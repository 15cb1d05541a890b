"""The Operators page: every operator with its schema, type rule and code, and the packed functions with theirs."""

from typing import get_args

import streamlit as st

from relax_core.engine.protocol import Failure, Open, Operators, Program, SheetOf, Try
from relax_core.present.catalog_of.catalog_models import Catalog, CatalogPage, Form, Sheet, Tried
from relax_core.present.models import Problem
from views.pages.operators.catalog.component import CatalogAction, catalog
from views.pages.operators.state import OperatorsState
from views.shell.failures import show_failure
from views.shell.frame import bar, group, note, page, status_line
from views.shell.navigation import open_page
from views.state.session import open_sample, open_text, select, state
from views.state.shared import FocusState
from views.worker.connection import ask
from views.worker.program import given_program

_FORMS: tuple[Form, ...] = get_args(Form)
# Whose example was run last: its result stays on the page until something else is selected.
_RAN = "operators.ran"


def _on_action(action: CatalogAction) -> None:
    match action.kind:
        case "listing":
            select(view=action.command)
        case "run":
            st.session_state[_RAN] = action.operator
        case _:
            pass
    select(operator=action.operator, search=action.search)


def _selected(found: Catalog) -> str:
    return state(OperatorsState).operator or found.operators[0].entries[0].id


def _form() -> Form:
    view = state(FocusState).view
    return _FORMS[_FORMS.index(view)] if view in _FORMS else "tir"


def _tried(sheet: Sheet) -> Tried | None:
    """Run the example if the user asked for it; what kept it from running is shown in its place."""
    if st.session_state.get(_RAN) != sheet.id or sheet.example is None:
        return None
    reply = ask(Try(Program(sheet.example.text, sheet.example.name)))
    if isinstance(reply, Failure):
        return Tried(problems=reply.problems or (Problem("error", "", f"{reply.title}. {reply.message}"),))
    return reply


def _open_example(sheet: Sheet, target: str) -> None:
    if sheet.sample:
        open_sample(sheet.sample)
    elif sheet.example is not None:
        open_text(sheet.example.text, sample=sheet.example.name)
    open_page("run" if target == "run" else "source")


def _show(found: Catalog) -> None:
    name = _selected(found)
    sheet = ask(SheetOf(name, _form()))
    if isinstance(sheet, Failure) and sheet.kind != "diagnosed":
        show_failure(sheet)
        return
    known = None if isinstance(sheet, Failure) else sheet
    if known is not None and known.id != name:
        # The address had another name of it.
        name = known.id
        select(operator=name)
    action = catalog(
        CatalogPage(found, known, _tried(known) if known else None, "" if known else name),
        key="operators.catalog",
        operator=name,
        search=state(OperatorsState).search,
        listing=_form(),
        on_action=_on_action,
    )
    if known is not None and action is not None and action.kind == "open":
        _open_example(known, action.command)


def _count(found: Catalog) -> str:
    entries = [entry for family in found.operators for entry in family.entries]
    return f"{sum(entry.realized_by != 'shown' for entry in entries)} of {len(entries)} operators run"


with page():
    with bar("operators"):
        chips = group()
    listed = ask(Operators())
    if isinstance(listed, Failure):
        show_failure(listed)
    else:
        with chips:
            note(_count(listed))
        _show(listed)
    source = ask(Open(given_program()))
    status_line(source)
