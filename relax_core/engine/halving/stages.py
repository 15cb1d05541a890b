"""The changes of a pass of ours or of the user's, with their lines in the texts of its stage."""

from collections.abc import Callable

from relax_core.bytecode.executable import Executable
from relax_core.engine.halving.changes import Changes, Locate, ModuleChanges, TextLine, cut
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import Stage
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def stage_changes(stage: Stage, build: Callable[[IRModule], Executable]) -> Changes:
    """Return what a pass changed."""
    return ModuleChanges(stage.before, stage.after, build, (_printed(stage.before), _printed(stage.after)))


def _printed(module: IRModule) -> Locate:
    """Return where nodes stand in the text of a module, as it is printed."""
    printed = print_module(module)
    source = Source("", printed.text)
    start_of: dict[Node, int] = {}

    def place(node: Node) -> TextLine:
        if not start_of:
            start_of.update((item.node, item.start) for item in reversed(printed.ranges))
        start = start_of.get(node)
        if start is None:
            return TextLine()
        line = source.line_column(start)[0]
        return TextLine(line, cut(source.line_text(line)))

    return place
