"""One program and all that is computed from it, and how its nodes are shown."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, cast

from relax_core.check.infer import infer
from relax_core.engine.programs.compilation import Compilation
from relax_core.engine.programs.left_modules import faults_of
from relax_core.engine.programs.program_source import ProgramSource
from relax_core.engine.programs.runs import Runs
from relax_core.engine.programs.spelling import relay_words
from relax_core.engine.protocol import Program
from relax_core.engine.recent import Recent
from relax_core.frontend.parse import Parsed
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Type
from relax_core.ir.node import Node
from relax_core.present.diffs.diff import Page, page_of
from relax_core.present.drawings.drawing import Drawing
from relax_core.present.drawings.faults import NO_FAULTS, Faults
from relax_core.present.drawings.flow import GraphContext
from relax_core.present.nodes.inspector import InspectorContext
from relax_core.present.nodes.life import what_is
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.nodes.origins import Lines
from relax_core.present.running.run import Recording
from relax_core.printer.printed import NodeRange
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import SPELLINGS
from relax_core.printer.types import TypePrinter
from relax_core.vm.recording.trace import Trace

T = TypeVar("T")
_KEPT_COUNT: Final = 3
"""Of how many stages lines and drawings are kept; those of a large one take several megabytes."""


class OpenProgram:
    """The facts about one `Program`: its text, its compilation, its runs, and what the pages show of them."""

    def __init__(
        self, program: Program, parsed: Parsed, earlier: "Callable[[], Iterable[OpenProgram]]" = lambda: ()
    ) -> None:
        self.source = ProgramSource(program, parsed)
        self.compilation = Compilation(self.source, lambda: (item.compilation for item in earlier()))
        self.runs = Runs(self.compilation)
        self._range_of_node: Recent[int, Mapping[Node, NodeRange]] = Recent(_KEPT_COUNT)
        self._answers: dict[object, Any] = {}
        self._pages: Recent[int, Page] = Recent(_KEPT_COUNT)
        self._drawings: Recent[tuple[NodeIndex, tuple[str, ...]], Drawing] = Recent(_KEPT_COUNT)
        self.inside: tuple[object, Any] | None = None
        """The latest run inside a kernel, and which one that is."""

    def remembered(self, request: object, make: Callable[[], T]) -> T:
        """Return the answer to a request about this program, made when it is first asked for."""
        if request not in self._answers:
            self._answers[request] = make()
        return cast("T", self._answers[request])

    def page(self, stage: int) -> Page:
        """Return the lines of a stage's text: those behind one pass are those before the next."""
        compilation = self.compilation
        return self._pages.remembered(stage, lambda: page_of(compilation.printed(stage), compilation.index(stage)))

    def drawing(
        self,
        facts: GraphContext,
        functions: tuple[str, ...],
        draw: Callable[[GraphContext, tuple[str, ...]], Drawing],
    ) -> Drawing:
        """Draw functions of a stage, which `facts` tells of: what is behind one pass is before the next."""
        return self._drawings.remembered((facts.index, functions), lambda: draw(facts, functions))

    def recording(self, trace: Trace) -> Recording:
        """Return the trace with what its presentation needs."""
        stage = len(self.compilation.known_stages)
        return Recording(
            trace,
            self.source.parsed.source,
            self.compilation.index(stage),
            self.source.module,
            self.source.revision,
            self.source.program.name,
        )

    def facts(self, stage: int) -> GraphContext:
        """Return what graphs of a stage show."""
        module = self.compilation.module_at(stage)
        return GraphContext(
            module,
            infer(module).types,
            self.compilation.index(stage),
            self.compilation.line_of,
            self.compilation.end_line_of,
            self.faults(stage),
        )

    def faults(self, stage: int) -> Faults:
        """Return the errors of a stage: those of the text, or of the ill-formed module that a pass left."""
        if stage == 0:
            return Faults(self.source.errors)
        known = self.compilation.known_stages[stage - 1]
        if known.left_module is known.after:
            return NO_FAULTS
        return faults_of(known.left_module, self.compilation.printed(stage), known.pass_name)

    def inspector_context(self, stage: int) -> InspectorContext:
        """Return what the inspector looks at for a node of `stage`."""
        module = self.compilation.module_at(stage)
        stages = self.compilation.known_stages
        indexes = tuple(self.compilation.index(number) for number in range(len(stages) + 1))
        return InspectorContext(
            stage,
            infer(module).types,
            indexes,
            stages,
            self.shower(stage),
            self.compilation.line_of,
            self.compilation.end_line_of,
            self.compilation.instructions_of,
            relay_words if dialect_of(module) == "relay" else self.spell,
            self.compilation.kernel_at,
            Lines(self.compilation.log(), self.source.parsed.source).of,
            self.source.parsed.marks,
            self.source.parsed.noted_types,
        )

    def spell(self, type_: Type) -> str:
        """Return a type in TVMScript, in the spelling of the user's text."""
        printer = TypePrinter(
            SPELLINGS[self.source.spelling], ScalarPrinter(lambda node: getattr(node, "name", "_"), "int64")
        )
        return printer.scalars.emitter.whole(printer.show(type_))

    def shower(self, *stages: int) -> Callable[[Node], str]:
        """Return a function that prints a node as the text of the first of `stages` that has it."""
        shown = tuple((stage, self.compilation.printed(stage).text, self._ranges(stage)) for stage in stages)

        def show(node: Node) -> str:
            for stage, text, range_of in shown:
                own = _own_text(node) if stage == 0 and node in self.compilation.index(0).place_of else None
                if own is not None:
                    return own
                if node in range_of:
                    return text[range_of[node].start : range_of[node].end]
            return what_is(node)

        return show

    def _ranges(self, stage: int) -> Mapping[Node, NodeRange]:
        """Return where the text of a stage shows each node first."""
        printed = self.compilation.printed(stage)
        return self._range_of_node.remembered(stage, lambda: {item.node: item for item in reversed(printed.ranges)})


def _own_text(node: Node) -> str | None:
    """Return the user's text of a node, without the indentation of its first line."""
    if node.span is None:
        return None
    column = node.span.column - 1
    first, *rest = node.span.text.split("\n")
    return "\n".join((first, *(line.removeprefix(" " * column) for line in rest)))
