"""The Devices page: where every value is and why, copies, and the analysis step by step, as reported too."""

from typing import get_args

import streamlit as st

from relax_core.engine.components.commands import Buttons
from relax_core.engine.components.graph import GraphAction, Head, Marks
from relax_core.engine.protocol import DevicesOf, Failure, GraphOf, Open, Program, SourceView, WhyDeviceOf
from relax_core.present.device_models import DeviceOptions, DevicesView, VisitsName, WhyDevice
from relax_core.present.escape import file_name
from relax_core.present.regions.target_marks import NONE, category_of
from views.lessons.alone import show_alone
from views.lessons.steps import held_back, waiting
from views.pages.devices.devices.component import DevicesAction, devices
from views.pages.devices.state import DevicesState
from views.shell.controls.choose import choose
from views.shell.failures import show_failure, show_offer
from views.shell.frame import bar, chip, group, note, page, status_line
from views.shell.heights import pane_height, stacked_height
from views.shell.selecting import graph_of, is_bare, on_graph
from views.state.session import opened_groups, reached_nodes, select, state
from views.state.shared import FocusState, ProgramState
from views.widgets.editor.component import EditorAction, editor
from views.widgets.graph.component import graph
from views.worker.connection import ask
from views.worker.program import as_in_of, given_program

_DEFAULTS = ("cpu", "cuda", "vulkan", "metal")
_LIMITS = (1, 2, 10, 99)
_AS_IN = ("fixed", "reported")
_VISITS: tuple[VisitsName, ...] = get_args(VisitsName)
_VIEWS: Buttons = (("graph", "Graph"), ("text", "Text"))
_SUGGESTED = ("relay/devices.relay", "relay/map_three_times.relay", "relay/lstm_list.relay")


def _on_graph(action: GraphAction) -> None:
    if action.kind == "step":
        select(view=action.command)
    else:
        on_graph("devices", action)


def _on_text(action: EditorAction) -> None:
    if action.kind == "tab":
        select(view=action.command)


def _on_devices(action: DevicesAction) -> None:
    focus, own = state(FocusState), state(DevicesState)
    function = action.node.split("/")[1] if action.node.count("/") > 1 else focus.function
    match action.kind:
        case "select":
            select(node=action.node, function=function)
        case "visit":
            select(visit=action.visit, node=action.node, function=function)
        case "function":
            visit = action.visit if action.visit >= 0 else own.visit
            select(function=action.function, node="", visit=visit)


def _options() -> DeviceOptions:
    current = state(DevicesState)
    return DeviceOptions(
        default=current.device if current.device in _DEFAULTS else _DEFAULTS[0],
        clone=bool(current.clone),
        as_in=as_in_of(state(ProgramState)),
        visits=_VISITS[_VISITS.index(current.visits)] if current.visits in _VISITS else _VISITS[0],
        visit_limit=current.visit_limit if current.visit_limit in _LIMITS else _LIMITS[0],
    )


def _choose_options() -> None:
    """Offer the options of PlanDevices; those of the visits matter only as reported."""
    options = _options()
    st.session_state["devices.as_in"] = options.as_in
    st.session_state["devices.clone"] = options.clone

    def changed() -> None:
        as_in, clone = st.session_state["devices.as_in"], st.session_state["devices.clone"]
        select(as_in=as_in or "fixed", clone=int(clone), visit=-1)

    choose(
        "Default device",
        _DEFAULTS,
        options.default,
        lambda name: select(device=name, visit=-1),
        key="devices.default",
        format_func=lambda name: f"Default: {name}",
        width=140,
    )
    note("As in")
    st.segmented_control("As in", _AS_IN, key="devices.as_in", on_change=changed, label_visibility="collapsed")
    with st.popover("Options"):
        st.toggle("Clone a function that is used on two devices", key="devices.clone", on_change=changed)
        if options.as_in == "reported":
            _choose_visits(options)


def _choose_visits(options: DeviceOptions) -> None:
    """Choose in which order, and how often, the visits that are reported go through the functions."""
    choose(
        "Order of visits",
        _VISITS,
        options.visits,
        lambda order: select(visits=order, visit=-1),
        key="devices.visits",
        label_visibility="visible",
    )
    choose(
        "Visits of a function at most",
        _LIMITS,
        options.visit_limit,
        lambda limit: select(visit_limit=limit, visit=-1),
        key="devices.limit",
        label_visibility="visible",
    )


def _export(view: DevicesView, name: str) -> None:
    stem = file_name(name.rpartition(".")[0])
    st.caption("The report of devices")
    text = view.report.to_text()
    with st.container(height=240, border=False):
        st.code(text, language=None, wrap_lines=True)
    with st.container(horizontal=True, gap="xsmall"):
        st.download_button("Text", text, f"{stem}.devices.txt", key="devices.text", on_click="ignore")
        json = view.report.to_json()
        st.download_button("JSON", json, f"{stem}.devices.json", key="devices.json", on_click="ignore")


def _function(source: SourceView) -> str:
    current = state(FocusState)
    return next((name for name in (current.function, "main", *source.functions) if name in source.functions), "")


def _show_left(view: DevicesView, source: SourceView, program: Program, why: WhyDevice | None) -> None:
    current = state(FocusState)
    if current.view == "text":
        editor(view.code, key="devices.editor", tabs=_VIEWS, tab="text", is_readonly=True, on_action=_on_text)
        return
    function = _function(source)
    opened, reached = opened_groups("devices"), reached_nodes("devices")
    drawn = graph_of(GraphOf(program, 0, function, opened, reached, is_bare=is_bare("devices")))
    names = view.report.devices
    legend = [(category_of(name, names), name) for name in names]
    if any(not mark.device for mark in view.marks):
        legend.append((NONE, "no device"))
    graph(
        drawn,
        key="devices.graph",
        head=Head(
            tabs=tuple((name, f"@{name}") for name in source.functions),
            tab=function,
            steps=_VIEWS,
            step="graph",
            has_step_keys=False,
            can_be_bare=True,
        ),
        marks=Marks(
            current.node,
            highlight=why.path if why else (),
            colours={mark.node: category_of(mark.device, names) for mark in view.marks},
            colour_names=tuple(legend),
        ),
        height=stacked_height(),
        on_action=_on_graph,
    )


def _show(view: DevicesView, source: SourceView, program: Program) -> None:
    focus, own = state(FocusState), state(DevicesState)
    reply = ask(WhyDeviceOf(program, focus.node, _options())) if focus.node else None
    why = None if isinstance(reply, Failure) else reply
    left, right = st.columns([980, 460], gap=None)
    with left:
        _show_left(view, source, program, why)
    with right:
        devices(
            view,
            key="devices.tables",
            why=why,
            selected=focus.node,
            visit=own.visit,
            function=_function(source),
            height=pane_height(),
            on_action=_on_devices,
        )


def _explain(source: SourceView) -> None:
    """Say that devices are planned for Relay, and offer programs."""
    text = "Devices are planned for Relay text. Open one of these programs, or paste a Relay module on the Source page."
    title = f"This module is not Relay: {source.dialect or 'no module'}"
    show_offer("devices", title, text, _SUGGESTED)


def _counted(view: DevicesView) -> str:
    hidden = sum(not item.is_visited for item in view.report.functions)
    return f"▲ {hidden} function{'' if hidden == 1 else 's'} never visited" if hidden else ""


with page():
    given = given_program()
    with bar("devices") as files:
        choosing = group()
    source = ask(Open(given))
    detail = ""
    if isinstance(source, Failure):
        show_failure(source)
    elif source.code.language != "relay":
        _explain(source)
    elif held_back("devices") is not None:
        with choosing:
            chip(waiting("devices"), "blue")
        show_alone("devices", source)
    else:
        with choosing:
            _choose_options()
        view = ask(DevicesOf(given, _options()))
        if isinstance(view, Failure):
            show_failure(view)
        else:
            detail = _counted(view)
            with files:
                _export(view, given.name)
            _show(view, source, given)
    status_line(source, detail)
