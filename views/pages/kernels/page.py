"""The Kernels page: a prim func beside its LLVM IR and machine code, line by line, and what the compiler did."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.engine.protocol import Failure, KernelOf, Open, Program, SourceView
from relax_core.jit.options import MODES
from relax_core.present.escape import file_name, literal
from relax_core.present.kernel_models import KernelView
from views.lessons.alone import show_alone
from views.lessons.steps import held_back, waiting
from views.pages.kernels.kernels.component import Form, KernelsAction, kernels
from views.pages.kernels.schedule import show_schedule
from views.pages.kernels.state import KernelsState
from views.pages.kernels.steps import choose_steps, show_plan, switched_off
from views.pages.kernels.threads import choose_threads, launches_threads, show_threads
from views.shell.controls.choose import choose
from views.shell.failures import show_failure, show_offer
from views.shell.frame import bar, chip, group, note, page, status_line
from views.shell.heights import pane_height
from views.shell.navigation import open_line
from views.state.session import line_of_part, select, state
from views.state.shared import FocusState, ProgramState
from views.worker.connection import ask
from views.worker.program import given_program, mode_of, sizes_of

_NONE = "EN005"
_NO_STEP = "JT025"
_NOT_COMPILED = "JT001"
_SIMULATED = "simulated on these inputs"
_HELP = (
    "bitwise: the C library's functions. exact: polynomials of less than 1 ulp, sums in their order. "
    "fast: sums in lanes, fused multiplication and addition."
)
_LARGEST_SIZE = 1 << 20
_SUGGESTED = ("tir/matmul.py", "tir/row_softmax.py", "tir/gather.py")


def _on_kernels(action: KernelsAction) -> None:
    select(part=action.part, view=action.form)


def _form() -> Form:
    return "lowered" if state(FocusState).view == "lowered" else "optimised"


def _choose(view: KernelView) -> None:
    choose(
        "Kernel",
        view.kernels,
        view.name,
        lambda name: select(kernel=name, part=0, sizes=""),
        key="kernels.kernel",
        format_func=lambda name: f"Kernel: {name}",
        width=195,
    )
    choose(
        "Arithmetic",
        MODES,
        mode_of(state(ProgramState)),
        lambda mode: select(kernel=view.name, mode=mode, part=0),
        key="kernels.mode",
        format_func=lambda mode: f"Arithmetic: {mode}",
        width=165,
        help=_HELP,
    )
    if view.sizes:
        _choose_sizes(view)
    choose_steps(view)
    note(f"compiled in {view.seconds * 1000:.0f} ms")


def _choose_sizes(view: KernelView) -> None:
    """Offer a value for each symbol; the kernel is compiled for them once all are given."""
    known = ", ".join(f"{size.name}={size.value}" for size in view.sizes if size.value >= 0)
    with st.popover(literal(f"Sizes: {known or 'any'}")):
        st.caption("With all sizes given, the code is made for them; else for any.")
        given: dict[str, int] = {}
        for size in view.sizes:
            value = st.number_input(
                literal(size.name),
                min_value=0,
                max_value=max(_LARGEST_SIZE, size.value),
                value=size.value if size.value >= 0 else None,
                placeholder="any",
                key=f"kernels.size.{view.name}.{size.name}",
            )
            if value is not None:
                given[size.name] = int(value)
        written = ",".join(f"{name}={value}" for name, value in given.items())
        if written != state(KernelsState).sizes:
            select(sizes=written, part=0)
            st.rerun()


def _export(view: KernelView) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        texts = (("TIR", view.tir, "py"), ("LLVM IR", view.optimised, "ll"), ("Assembly", view.assembly, "s"))
        for title, text, ending in texts:
            name = f"{file_name(view.name)}.{ending}"
            st.download_button(literal(title), text.text, name, key=f"kernels.export.{ending}", on_click="ignore")


def _explain() -> None:
    """Say where kernels come from, and offer programs that have some."""
    text = "Kernels are the prim funcs of a module, written or made by LegalizeOps. Open one of these programs."
    show_offer("kernels", "No kernels", text, _SUGGESTED)


def _asked(program: Program) -> KernelView | Failure:
    """Ask for the chosen kernel, or for the first one if there is no such kernel, size or transformation."""
    view = ask(KernelOf(program, state(KernelsState).kernel, sizes_of(state(KernelsState).sizes), switched_off()))
    if isinstance(view, Failure) and any(item.code in (_NONE, _NO_STEP) for item in view.problems):
        view = ask(KernelOf(program))
    return view


def _show_code(source: SourceView | Failure, given: Program, choosing: DeltaGenerator, files: DeltaGenerator) -> str:
    """Show what the compiler made of a kernel for this machine, and say of how many."""
    detail = ""
    shown = source if isinstance(source, Failure) else _asked(given)
    if isinstance(shown, KernelView):
        line = line_of_part()
        part = next((item.number for item in shown.parts if line in item.origins), 0)
        if part:
            select(part=part)
        detail = f"{len(shown.kernels)} kernel{'' if len(shown.kernels) == 1 else 's'}, checked and cancellable"
        with choosing:
            _choose(shown)
        with files:
            _export(shown)
        if state(KernelsState).by_hand:
            show_schedule(shown)
            return detail
        if state(KernelsState).plan:
            show_plan(shown)
            return detail
        action = kernels(
            shown,
            key="kernels.forms",
            part=state(KernelsState).part,
            form=_form(),
            height=pane_height(),
            on_action=_on_kernels,
        )
        if action is not None and action.kind == "line":
            open_line(action.line)
    elif any(item.code == _NONE for item in shown.problems):
        _explain()
    elif launches_threads(given) and any(item.code == _NOT_COMPILED for item in shown.problems):
        show_threads(given, f"A kernel for a GPU: this machine has no code for it. {shown.problems[0].message}.")
        detail = _SIMULATED
    else:
        show_failure(shown)
    return detail


with page():
    given = given_program()
    with bar("kernels") as files:
        choosing = group()
    source = ask(Open(given))
    is_held = held_back("kernels") is not None
    has_threads = not isinstance(source, Failure) and launches_threads(given) and not is_held
    is_chosen = has_threads and bool(state(KernelsState).threads)
    if is_held:
        with choosing:
            chip(waiting("kernels"), "blue")
        show_alone("kernels", source)
        detail = ""
    elif is_chosen:
        show_threads(given)
        detail = _SIMULATED
    else:
        detail = _show_code(source, given, choosing, files)
    if is_chosen or (has_threads and detail != _SIMULATED):
        with choosing:
            choose_threads()
    status_line(source, detail)
