"""The changes of a pass of ours or of the user's, with their lines in the texts of its stage."""

from collections.abc import Callable

from relax_core.bytecode.executable import Executable
from relax_core.engine.halving.changes import Changes, Locate, ModuleChanges, TextLine, cut
from relax_core.engine.halving.rewrites import StageRewrites
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import Stage
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def stage_changes(stage: Stage, build: Callable[[IRModule], Executable]) -> Changes:
    """Return what a pass changed."""
    return ModuleChanges(stage.before, stage.after, build, (_printed(stage.before), _printed(stage.after)))


def stage_rewrites(stage: Stage, build: Callable[[IRModule], Executable]) -> StageRewrites:
    """Return the rewrites that a pass made."""
    return StageRewrites(stage, build, (_printed(stage.before), _printed(stage.after)))


def _printed(module: IRModule) -> Locate:
    """Return where nodes stand in the text of a module, as it is printed when a place is first asked for."""
    start_of: dict[Node, int] = {}
    sources: list[Source] = []

    def place(node: Node) -> TextLine:
        if not sources:
            printed = print_relay(module) if dialect_of(module) == "relay" else print_module(module)
            sources.append(Source("", printed.text))
            start_of.update((item.node, item.start) for item in reversed(printed.ranges))
        start = start_of.get(node)
        if start is None:
            return TextLine()
        line = sources[0].line_column(start)[0]
        return TextLine(line, cut(sources[0].line_text(line)))

    return place
