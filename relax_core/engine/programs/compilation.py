"""A program on its way to bytecode: its stages, each with its text and the ids of its nodes."""

from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Final

from relax_core.bytecode.build import finishing_stages
from relax_core.bytecode.compile import compile_module
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.programs.program_source import ProgramSource
from relax_core.engine.protocol import Progress, Report
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import final_module, run_pipeline, verify
from relax_core.present.nodes.node_id import NodeIndex, index_nodes
from relax_core.printer.printed import Printed
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module

_RANGES_KEPT: Final = 4
"""Of how many texts it is kept where they show each node."""


class Compilation:
    """What the passes make of one program, each part once and when it is first asked for.

    A part that fails raises its `DiagnosedError` each time. What `earlier` compilations of the same module made with
    the first of these passes is not made again, so that of a pipeline that is changed only what follows runs.
    """

    def __init__(self, source: ProgramSource, earlier: Callable[[], "Iterable[Compilation]"] = lambda: ()) -> None:
        self.source = source
        self._earlier = earlier
        self._stages: tuple[Stage, ...] | None = None
        self._complete: tuple[Stage, ...] | None = None
        self._executable: Executable | None = None
        self._log: tuple[int, RewriteLog] | None = None
        self._indexes: dict[int, NodeIndex] = {}
        self._printed: dict[int, Printed] = {}
        self._with_ranges: list[Printed] = []
        self._counters: Mapping[Node, tuple[int, ...]] | None = None

    def stages(self, report: Report, is_cancelled: Callable[[], bool]) -> tuple[Stage, ...]:
        """Run the pipeline; a pass that fails is the last stage."""
        if self._stages is None:
            self.source.require_sound()

            def progress(index: int, count: int, name: str, seconds: float) -> None:
                report(Progress(f"Running {name}", index, count, seconds))

            def checked(index: int, count: int, name: str, seconds: float) -> None:
                report(Progress(f"Checking what {name} left", index, count, seconds))

            stages = run_pipeline(
                self.source.module,
                self.source.steps,
                tables=self.source.tables,
                progress=progress,
                is_cancelled=is_cancelled,
                begun=self._begin(),
            )
            is_verified = self.source.program.verify
            self._stages = verify(stages, progress=checked, is_cancelled=is_cancelled) if is_verified else stages
        return self._stages

    def take(self, stages: tuple[Stage, ...]) -> None:
        """Take over stages that the host ran on the module, in place of running the pipeline."""
        self._stages = stages

    def _begin(self) -> tuple[Stage, ...]:
        """Take over the stages, texts and ids of the earlier compilation that has the most passes in common."""
        best = max(self._earlier(), key=self._shared_count, default=None)
        count = 0 if best is None else self._shared_count(best)
        if best is None or best._stages is None or not count:
            return ()
        self._indexes = {number: item for number, item in best._indexes.items() if number <= count}
        self._printed = {number: item for number, item in best._printed.items() if number <= count}
        return best._stages[:count]

    def _shared_count(self, other: "Compilation") -> int:
        """Count the first passes that the other compilation has run on the same module, with the same options."""
        if other is self or other._stages is None or other.source.module is not self.source.module:
            return 0
        if other.source.program.tables != self.source.program.tables:
            return 0
        ran = zip(self.source.steps, other.source.steps, other._stages, strict=False)
        return sum(1 for _ in takewhile(lambda item: item[0] == item[1] and not item[2].is_failed, ran))

    def complete(self, report: Report, is_cancelled: Callable[[], bool]) -> tuple[Stage, ...]:
        """Run the pipeline and the passes that the machine needs besides."""
        if self._complete is None:
            stages = self.stages(report, is_cancelled)
            final_module(self.source.module, stages)
            self._complete = (*stages, *finishing_stages(self.source.module, stages))
        return self._complete

    def executable(self, report: Report, is_cancelled: Callable[[], bool]) -> Executable:
        """Compile to bytecode."""
        if self._executable is None:
            stages = self.complete(report, is_cancelled)
            report(Progress("Making bytecode"))
            module = with_entries(final_module(self.source.module, stages), self.source.program.entry)
            self._executable = compile_module(module, self.log(), as_in=self.source.program.as_in)
        return self._executable

    def log(self) -> RewriteLog:
        """Return one log that leads through all stages that ran."""
        count = len(self.known_stages)
        if self._log is None or self._log[0] != count:
            self._log = count, RewriteLog.merged(stage.log for stage in self.known_stages)
        return self._log[1]

    @property
    def known_stages(self) -> tuple[Stage, ...]:
        """The stages that ran so far."""
        return self._complete or self._stages or ()

    def module_at(self, stage: int) -> IRModule:
        """Return the module after `stage` passes; behind one that left an ill-formed module it is that.

        Raises:
            CompileError: the pipeline has fewer.
        """
        if stage == 0:
            return self.source.module
        if not 0 < stage <= len(self.known_stages):
            raise CompileError((Diagnostic("EN005", f"the pipeline has no stage {stage}"),))
        return self.known_stages[stage - 1].left_module

    def index(self, stage: int) -> NodeIndex:
        """Return the ids of the nodes of a stage."""
        if stage not in self._indexes:
            self._indexes[stage] = index_nodes(self.module_at(stage), stage)
        return self._indexes[stage]

    def printed(self, stage: int) -> Printed:
        """Return the text of a stage, in the spelling of the user's."""
        if stage not in self._printed:
            module = self.module_at(stage)
            is_same = stage > 0 and module is self.module_at(stage - 1)
            self._printed[stage] = self.printed(stage - 1) if is_same else self.text_of(module)
        found = self._printed[stage]
        # What is asked for texts alone has no ranges, and costs none.
        self._with_ranges = [item for item in self._with_ranges if item is not found] + [found]
        for item in self._with_ranges[:-_RANGES_KEPT]:
            item.drop_ranges()
        self._with_ranges = self._with_ranges[-_RANGES_KEPT:]
        return found

    def text_of(self, module: IRModule) -> Printed:
        """Print a module in the spelling of the user's text."""
        return (
            print_relay(module)
            if dialect_of(module) == "relay"
            else print_module(module, spelling=self.source.spelling)
        )

    def line_of(self, node: Node) -> int:
        """Return the line of the user's text that a node stems from, 0 if there is none."""
        span = self.log().locate(node)
        return span.line if span is not None and span.source is self.source.parsed.source else 0

    def end_line_of(self, node: Node) -> int:
        """Return the line where the user's text of a node ends, 0 if there is none."""
        span = self.log().locate(node)
        return span.end_line_column[0] if span is not None and span.source is self.source.parsed.source else 0

    def instructions_of(self, node: Node) -> tuple[int, ...]:
        """Return the instructions that were made from a node of the last stage, if the program was compiled."""
        if self._executable is None:
            return ()
        if self._counters is None:
            index = self.index(len(self.known_stages))
            counters: dict[Node, tuple[int, ...]] = {}
            for pc, made_from in enumerate(self._executable.nodes):
                if made_from in index.place_of:
                    made_from = index.node_of(made_from)
                counters[made_from] = (*counters.get(made_from, ()), pc)
            self._counters = counters
        return self._counters.get(node, ())

    def kernel_at(self, pc: int) -> str:
        """Return the kernel that the instruction at `pc` calls, if the program was compiled."""
        return "" if self._executable is None else self._executable.kernel_at(pc)
