"""Where more is told of what is explained: a document, the page of an operator, a program that shows a pass at work."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import streamlit as st

from relax_core.engine.documents.guides import guides
from relax_core.engine.documents.pass_examples import Example, examples
from relax_core.present.catalog_of.catalog_models import GLOSSARY, Explanation
from relax_core.present.escape import literal
from views.shell.navigation import ask_for_page
from views.state.dialogs import ask_for_guide, ask_for_meaning
from views.state.session import open_text, select

DOCUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pass on Relax": "pages/passes.md",
        "pass on Relay": "pages/passes.md",
        "pass on TIR": "schedules.md",
        "pass": "pages/passes.md",
        "operator": "operators.md",
        "packed function": "runtime_functions.md",
        "function of the machine": "pages/run.md",
        "instruction": "pages/run.md",
        "remark": "pages/passes.md",
        "rewrite rule": "pages/passes.md",
        "remark on a kernel": "pages/kernels.md",
        "transformation of kernels": "pages/kernels.md",
        GLOSSARY: "glossary.md",
    }
)
"""The document that tells of names of a kind; a diagnostic has a paragraph of its own."""
_DIALECTS: Final[Mapping[str, str]] = MappingProxyType(
    {"pass on Relax": "relax", "pass on Relay": "relay", "pass on TIR": "tir", "pass": "any"}
)
_ENTRIES: Final[Mapping[str, str]] = MappingProxyType({"operator": "{}", "packed function": "packed/{}"})
"""How the Operators page names an entry."""


def show_references(items: tuple[Explanation, ...]) -> None:
    """Offer where more is told of what was explained; each place once."""
    if not items:
        return
    titles = {guide.path: guide.title for guide in guides()}
    st.caption("Reference")
    with st.container(horizontal=True, gap="xsmall", key="references"):
        for path in dict.fromkeys(DOCUMENTS[item.kind] for item in items if item.kind in DOCUMENTS):
            if st.button(literal(titles[path]), key=f"reference.{path}", on_click=ask_for_guide, args=(path,)):
                st.rerun()
        for item in items:
            _offer(item)


def _offer(item: Explanation) -> None:
    """Offer what shows one name: the page of an operator, a pass at work, the paragraph of a code."""
    key = f"reference.{item.kind}.{item.name}"
    example = examples().get(f"{_DIALECTS.get(item.kind, '')}.{item.name}")
    if item.kind == "diagnostic":
        if st.button(literal(f"Programs with {item.name}"), key=key, on_click=ask_for_meaning, args=(item.name,)):
            st.rerun()
    elif item.kind in _ENTRIES:
        entry = _ENTRIES[item.kind].format(item.name.removeprefix("R."))
        label = literal(f"{item.name} on the Operators page")
        if st.button(label, key=key, on_click=_open_entry, args=(entry,)):
            st.rerun()
    elif example is not None:
        label = literal(f"{item.name} on an example")
        if st.button(label, key=key, on_click=_open, args=(item.name, example)):
            st.rerun()


def _open_entry(entry: str) -> None:
    select(operator=entry)
    ask_for_page("operators")


def _open(name: str, example: Example) -> None:
    """Open the program of an example, with the pass alone for its pipeline."""
    ending = "relay" if "#[version" in example.program else "py"
    open_text(f"{example.program.strip()}\n", sample=f"{name}.{ending}")
    select(pipeline=example.pipeline, rule_text=example.rules, table_text=example.table, stage=1, view="text")
    ask_for_page("passes")
