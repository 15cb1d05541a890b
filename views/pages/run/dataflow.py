"""The graph of the function that runs, for the Run page."""

from typing import Final

from relax_core.engine.components.graph import Head, Marks, graph_props
from relax_core.engine.components.stepper import Dataflow
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import GraphOf
from relax_core.present.models import LineHeat, SourceView
from relax_core.present.running.run_models import Run
from views.pages.run.state import RunState
from views.shell.selecting import graph_of, is_bare, shown_function
from views.state.session import opened_groups, reached_nodes, state
from views.state.shared import FocusState

_PAGE: Final = "run"


def shown_dataflow(program: Program, source: SourceView, run: Run, heat: LineHeat | None) -> Dataflow | None:
    """Ask for the graph of the function that runs at the time that is shown, while its tab is open."""
    own = state(RunState)
    if own.tab != "graph":
        return None
    running = run.function_at(max(0, own.time))
    function = shown_function(source, "" if running is None else running.home)
    opened, reached = opened_groups(_PAGE), reached_nodes(_PAGE)
    drawn = graph_of(GraphOf(program, 0, function, opened, reached, is_bare=is_bare(_PAGE)))
    return Dataflow(drawn, graph_props(Head(can_be_bare=True), Marks(heat=heat), ""), state(FocusState).node)
