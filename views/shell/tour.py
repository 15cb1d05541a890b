"""Where a newcomer can begin: each system of the app, and programs that show its point at a telling moment."""

from dataclasses import dataclass

import streamlit as st

from relax_core.present.escape import literal, prose
from views.shell.navigation import open_page
from views.state.session import Selection, is_first_visit, show

_IS_HIDDEN = "tour.hidden"


@dataclass(frozen=True, slots=True)
class Stop:
    """A screen to begin with, and what it shows."""

    title: str
    seen: str
    screen: Selection


@dataclass(frozen=True, slots=True)
class System:
    """A page, the question that it answers, and its stops; the first one is offered at once."""

    page: str
    question: str
    stops: tuple[Stop, ...]

    @property
    def name(self) -> str:
        """The title of the page."""
        return self.page.capitalize()


SYSTEMS = (
    System(
        "passes",
        "What does each pass make of my program, and why?",
        (
            Stop(
                "A closure is lifted",
                "LambdaLift makes a local function global and binds what it captured.",
                Selection(sample="seeds/print_closure2_2026.py"),
            ),
            Stop(
                "Operators become kernels",
                "LegalizeOps replaces `matmul`, `add`, `relu` and `softmax` by calls of prim funcs.",
                Selection(sample="relax/mlp.py"),
            ),
            Stop(
                "A function is specialised",
                "A recursive `map` over a list, taken from Relay to a program that runs.",
                Selection(sample="relay/polymorphic_map.relay"),
            ),
        ),
    ),
    System(
        "partition",
        "Which parts does a library take, and why do two of them stay apart?",
        (
            Stop(
                "Two regions, kept apart",
                "A `let` stands between two calls of one library: the blocking path is red.",
                Selection(sample="relay/library_call_two.relay", pair=0),
            ),
            Stop(
                "A value leaves and comes back",
                "One library, two regions: `tanh`, which it lacks, lies on the path between them.",
                Selection(sample="relay/partition_branches.relay", pair=0),
            ),
            Stop(
                "A region that never ends",
                "The same lets, cut as they were when the bug was reported.",
                Selection(sample="relay/library_call_two.relay", lets="reported"),
            ),
        ),
    ),
    System(
        "devices",
        "On which device is each value, and who decided it?",
        (
            Stop(
                "A function nobody visits",
                "Devices as planned when the bug was reported: one function of seven has none.",
                Selection(sample="relay/map_three_times.relay", as_in="reported", visit=3),
            ),
            Stop(
                "Two devices and a copy",
                "Annotations pull two ways: where the value crosses, and which line asked for it.",
                Selection(sample="relay/devices.relay"),
            ),
        ),
    ),
    System(
        "run",
        "What is in every register, at every step, forwards and backwards?",
        (
            Stop(
                "A recursion, step by step",
                "`fib` calls itself: step in and out, and back, with all frames on the right.",
                Selection(sample="relax/fib.py", time=9),
            ),
            Stop(
                "Back over a write in place",
                "A packed function overwrites its argument: step back and the old value is there.",
                Selection(sample="relax/inplace_update.py", time=7),
            ),
            Stop(
                "An index out of range",
                "The run stops at the line, with the indices that it had.",
                Selection(sample="errors/jt_out_of_range.py", time=8),
            ),
        ),
    ),
    System(
        "kernels",
        "What did the compiler make of this loop?",
        (
            Stop(
                "A loop down to machine code",
                "A softmax as TIR, LLVM IR and assembly: lines that belong together have one number.",
                Selection(sample="tir/row_softmax.py", part=8),
            ),
            Stop(
                "A matrix product, tiled",
                "Which loops were tiled and vectorised, and which range checks are left.",
                Selection(sample="tir/matmul.py", kernel="matmul", sizes="m=64,k=64,n=64"),
            ),
            Stop(
                "Indices from a tensor",
                "Reads whose index is data: the check that stays, and what it costs.",
                Selection(sample="tir/gather.py"),
            ),
        ),
    ),
)


def offer() -> bool:
    """Show a newcomer one stop of each system, in a row that can be hidden; return whether it is shown."""
    if not is_first_visit() or st.session_state.get(_IS_HIDDEN):
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tour"):
        st.caption("See what compiler passes make of a Relax, TIR or Relay program, and run it step by step.")
        for system in SYSTEMS:
            go(system, system.stops[0], f"tour.{system.name}")
        if st.button("More", key="tour.more", type="tertiary", help="Every system with its programs"):
            open_page("learn")
        st.button("✕", key="tour.hide", type="tertiary", help="Hide this row", on_click=_hide)
    return True


def go(system: System, stop: Stop, key: str) -> None:
    """Offer a stop as a button that opens it on its page."""
    if st.button(literal(stop.title), key=key, help=prose(f"{system.name}: {stop.seen}")):
        show(stop.screen)
        open_page(system.page)


def _hide() -> None:
    st.session_state[_IS_HIDDEN] = True
