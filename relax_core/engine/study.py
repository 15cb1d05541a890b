"""One program and all that is computed from it, each part once and when it is first asked for."""

from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar, cast

from relax_core.bytecode.build import finishing_stages, reported
from relax_core.bytecode.compile import compile_module
from relax_core.bytecode.executable import Executable
from relax_core.check.check import check, combined
from relax_core.check.infer import infer
from relax_core.check.relay.noted import check_text
from relax_core.diagnostics import CompileError, Diagnostic, RunError, has_errors
from relax_core.engine.inputs import can_be_made_up, generate, read_archive
from relax_core.engine.program import ChangeAt
from relax_core.engine.protocol import Program, Progress
from relax_core.engine.spelling import guess_spelling, relay_words
from relax_core.frontend.parse import Parsed
from relax_core.ir.dialect import Dialect, dialect_of
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewrite import RewriteLog
from relax_core.ir.tir import BufferStore
from relax_core.ir.types import Type
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.ranges import access_report
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import default_pipeline, final_module, repaired_codes, run_pipeline
from relax_core.pattern.tables import NO_TABLES, Tables, read_tables
from relax_core.present.flow import Facts
from relax_core.present.inspector import Scene
from relax_core.present.life import what_is
from relax_core.present.node_id import NodeIndex, index_nodes
from relax_core.present.origins import Lines
from relax_core.present.run import Recording
from relax_core.present.words import prim_text
from relax_core.printer.printed import Printed
from relax_core.printer.relay import print_relay
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import SPELLINGS, Spelling
from relax_core.printer.tvmscript import print_module
from relax_core.printer.types import TypePrinter
from relax_core.vm.limits import Limits as RunLimits
from relax_core.vm.machine import Machine
from relax_core.vm.trace import Trace
from relax_core.vm.values import Value
from relax_core.vm.virtual_machine import entry_arguments

Report = Callable[[Progress], None]
T = TypeVar("T")


class Study:
    """The facts about one `Program`. A part that fails raises its `DiagnosedError` each time."""

    def __init__(self, program: Program, parsed: Parsed) -> None:
        self.program = program
        self.parsed = parsed
        self.machine: Machine | None = None
        self._stages: tuple[Stage, ...] | None = None
        self._complete: tuple[Stage, ...] | None = None
        self._executable: Executable | None = None
        self._trace: Trace | None = None
        self.changed_run: tuple[tuple[ChangeAt, ...], Trace] | None = None
        self._log: tuple[int, RewriteLog] | None = None
        self._indexes: dict[int, NodeIndex] = {}
        self._printed: dict[int, Printed] = {}
        self._text_of_node: dict[int, Mapping[Node, str]] = {}
        self._counters: Mapping[Node, tuple[int, ...]] | None = None
        self._answers: dict[object, Any] = {}

    @property
    def hash(self) -> str:
        """Eight characters that name the text."""
        return sha256(self.program.text.encode("utf-8", "replace")).hexdigest()[:8]

    @property
    def revision(self) -> str:
        """Characters that name text, pipeline and inputs together."""
        return sha256(repr(self.program).encode("utf-8", "replace")).hexdigest()[:16]

    @cached_property
    def spelling(self) -> Spelling:
        """The year of the text's spelling."""
        return guess_spelling(self.program.text)

    @cached_property
    def dialect(self) -> Dialect:
        """The language of the module."""
        return dialect_of(self.module)

    @property
    def module(self) -> IRModule:
        """The module of the program.

        Raises:
            CompileError: the text has none, or the program names another one.
        """
        modules = self.parsed.modules
        name = self.program.module
        found = next((item for item in modules if not name or item.name == name), None)
        if found is None:
            errors = tuple(item for item in self.parsed.diagnostics if item.severity == "error")
            names = ", ".join(item.name for item in modules)
            missing = Diagnostic("EN005", f"the text has no module `{name}`", hint=f"modules: {names}" if names else "")
            raise CompileError(errors or (missing,))
        return found

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return what parsing and checking say of the whole text, and which accesses of prim funcs are not proven."""
        found = [*combined(self.parsed.diagnostics, check_text(self.parsed))]
        if not has_errors(found):
            for module in self.parsed.modules:
                found += _unproven(module)
        return tuple(sorted(found, key=lambda item: item.span.start if item.span else 0))

    def require_sound(self) -> None:
        """Raise the errors of the text, if there are any."""
        module = self.module
        errors = [item for item in self.parsed.diagnostics if item.severity == "error"]
        found = [item for item in check(module) if item.severity == "error"]
        repaired = repaired_codes(self.program.pipeline, self.dialect) if found else ()
        errors += [item for item in found if item.code not in repaired]
        if errors:
            raise CompileError(errors)

    @property
    def pipeline(self) -> str:
        """The pipeline as text."""
        if self.program.pipeline is not None:
            return self.program.pipeline
        # A text of 2022 gets that year's LambdaLift, which keeps `closure = lifted_func_0`: the closure has a register.
        is_of_2022 = self.program.as_in == "reported" or self.spelling == "2022"
        pipeline = default_pipeline(self.module)
        return reported(pipeline) if is_of_2022 else pipeline

    @cached_property
    def tables(self) -> Tables:
        """The patterns and supported operators that the program brings."""
        return read_tables(self.program.tables, "the table") if self.program.tables.strip() else NO_TABLES

    def stages(self, report: Report, is_cancelled: Callable[[], bool]) -> tuple[Stage, ...]:
        """Run the pipeline; a pass that fails is the last stage."""
        if self._stages is None:
            self.require_sound()

            def progress(index: int, count: int, name: str, seconds: float) -> None:
                report(Progress(f"Running {name}", index, count, seconds))

            self._stages = run_pipeline(
                self.module, self.pipeline, tables=self.tables, progress=progress, is_cancelled=is_cancelled
            )
        return self._stages

    def complete(self, report: Report, is_cancelled: Callable[[], bool]) -> tuple[Stage, ...]:
        """Run the pipeline and the passes that the machine needs besides."""
        if self._complete is None:
            stages = self.stages(report, is_cancelled)
            final_module(self.module, stages)
            self._complete = (*stages, *finishing_stages(self.module, stages))
        return self._complete

    def executable(self, report: Report, is_cancelled: Callable[[], bool]) -> Executable:
        """Compile to bytecode."""
        if self._executable is None:
            stages = self.complete(report, is_cancelled)
            report(Progress("Making bytecode"))
            module = final_module(self.module, stages)
            self._executable = compile_module(module, self.log(), as_in=self.program.as_in)
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

    def entry(self) -> tuple[str, Function]:
        """Return the function that runs: the one that is named, `main`, or the first that can be entered."""
        functions = {var.name: function for var, function in self.module.relax_functions}
        wanted = self.program.entry or ("main" if "main" in functions else "")
        if wanted:
            if wanted not in functions:
                hint = f"functions: {', '.join(functions)}" if functions else ""
                raise RunError((Diagnostic("EN005", f"there is no Relax function `{wanted}`", hint=hint),))
            return wanted, functions[wanted]
        names = self.entries()
        if not names:
            message = "the module has no function that can be run on made-up arguments"
            hint = "add a function main without parameters, or run it with an archive of inputs"
            raise RunError((Diagnostic("EN009", message, hint=hint),))
        return names[0], functions[names[0]]

    def entries(self) -> tuple[str, ...]:
        """Names of the functions that arguments can be made up for; private ones only if there are no others."""
        functions = tuple(item for item in self.module.relax_functions if can_be_made_up(item[1]))
        public = tuple(var.name for var, function in functions if not function.is_private)
        return public or tuple(var.name for var, _ in functions)

    def run(
        self,
        report: Report,
        is_cancelled: Callable[[], bool],
        limits: RunLimits,
        engine: Engine,
        *,
        records: bool = True,
    ) -> Trace:
        """Run the entry function on the program's inputs."""
        if self._trace is not None and records:
            return self._trace
        executable = self.executable(report, is_cancelled)
        name, args = self.call()
        report(Progress(f"Running `{name}`"))
        poisons, options = self.program.poisons_memory, engine.options
        machine = Machine(
            executable, limits=limits, record=records, engine=engine, options=options, poisons_memory=poisons
        )
        trace = self.run_machine(machine, name, entry_arguments(executable, name, args), is_cancelled)
        if is_cancelled() and trace.error is not None:
            raise RunError((trace.error,))
        if records:
            self._trace = trace
        return trace

    def run_machine(
        self, machine: Machine, entry: str, args: tuple[Value, ...], is_cancelled: Callable[[], bool]
    ) -> Trace:
        """Run a machine that a cancellation reaches."""
        return self.watched(machine, lambda: machine.run(entry, args), is_cancelled)

    def watched(self, machine: Machine, run: Callable[[], Trace], is_cancelled: Callable[[], bool]) -> Trace:
        """Carry out `run` of a machine that a cancellation reaches."""
        self.machine = machine
        if is_cancelled():
            machine.cancel()
        try:
            return run()
        finally:
            self.machine = None

    def call(self) -> tuple[str, tuple[Any, ...]]:
        """Return the function that runs and its arguments: those of the program's archive, or made-up ones."""
        name, function = self.entry()
        inputs, sizes = self.program.inputs, dict(self.program.sizes)
        return name, read_archive(inputs, function) if inputs else generate(function, self.program.seed, sizes)

    def remembered(self, request: object, make: Callable[[], T]) -> T:
        """Return the answer to a request about this program, made when it is first asked for."""
        if request not in self._answers:
            self._answers[request] = make()
        return cast("T", self._answers[request])

    def recording(self, trace: Trace) -> Recording:
        """Return the trace with what its presentation needs."""
        stage = len(self.known_stages)
        return Recording(trace, self.parsed.source, self.index(stage), self.revision, self.program.name)

    def module_at(self, stage: int) -> IRModule:
        """Return the module after `stage` passes.

        Raises:
            CompileError: the pipeline has fewer.
        """
        if stage == 0:
            return self.module
        if not 0 < stage <= len(self.known_stages):
            raise CompileError((Diagnostic("EN005", f"the pipeline has no stage {stage}"),))
        return self.known_stages[stage - 1].after

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
            self._printed[stage] = self.printed(stage - 1) if is_same else self._print(module)
        return self._printed[stage]

    def _print(self, module: IRModule) -> Printed:
        return print_relay(module) if dialect_of(module) == "relay" else print_module(module, spelling=self.spelling)

    def facts(self, stage: int) -> Facts:
        """Return what graphs of a stage show."""
        module = self.module_at(stage)
        return Facts(module, infer(module).types, self.index(stage), self.line_of, self.end_line_of)

    def line_of(self, node: Node) -> int:
        """Return the line of the user's text that a node stems from, 0 if there is none."""
        span = self.log().locate(node)
        return span.line if span is not None and span.source is self.parsed.source else 0

    def end_line_of(self, node: Node) -> int:
        """Return the line where the user's text of a node ends, 0 if there is none."""
        span = self.log().locate(node)
        return span.end_line_column[0] if span is not None and span.source is self.parsed.source else 0

    def scene(self, stage: int) -> Scene:
        """Return what the inspector looks at for a node of `stage`."""
        module = self.module_at(stage)
        stages = self.known_stages
        indexes = tuple(self.index(number) for number in range(len(stages) + 1))
        return Scene(
            stage,
            infer(module).types,
            indexes,
            stages,
            self.shower(stage),
            self.line_of,
            self.end_line_of,
            self._instructions,
            relay_words if dialect_of(module) == "relay" else self._spell,
            self._kernel_at,
            Lines(self.log(), self.parsed.source).of,
            self.parsed.marks,
            self.parsed.noted_types,
        )

    def _spell(self, type_: Type) -> str:
        printer = TypePrinter(SPELLINGS[self.spelling], ScalarPrinter(lambda node: getattr(node, "name", "_"), "int64"))
        return printer.scalars.ink.whole(printer.show(type_))

    def shower(self, *stages: int) -> Callable[[Node], str]:
        """Return a function that prints a node as the text of the first of `stages` that has it."""
        tables = tuple(self._texts(stage) for stage in stages)

        def show(node: Node) -> str:
            return next((table[node] for table in tables if node in table), what_is(node))

        return show

    def _texts(self, stage: int) -> Mapping[Node, str]:
        if stage not in self._text_of_node:
            printed = self.printed(stage)
            texts: dict[Node, str] = {}
            if stage == 0:
                own = ((node, _own_text(node)) for nodes in self.index(0).nodes_of.values() for node in nodes)
                texts.update((node, text) for node, text in own if text is not None)
            for item in printed.ranges:
                texts.setdefault(item.node, printed.text[item.start : item.end])
            self._text_of_node[stage] = texts
        return self._text_of_node[stage]

    def _kernel_at(self, pc: int) -> str:
        return "" if self._executable is None else self._executable.kernel_at(pc)

    def _instructions(self, node: Node) -> tuple[int, ...]:
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


def _unproven(module: IRModule) -> list[Diagnostic]:
    """Warn of accesses that are checked when they run, each once per line."""
    found: dict[tuple[int, str], Diagnostic] = {}
    for _, function in module.prim_funcs:
        for fact in access_report(function):
            node, span = fact.node, fact.node.span
            if fact.proven or span is None:
                continue
            access = f"{node.buffer.name}[{', '.join(map(prim_text, node.indices))}]"
            verb = "Write" if isinstance(node, BufferStore) else "Read"
            when = f"is in range only if `{fact.condition}`" if fact.condition else "may be out of range"
            words = f"{verb} `{access}` {when}. It is checked when it runs."
            found.setdefault((span.line, access), Diagnostic("EN007", words, span, severity="warning"))
    return list(found.values())


def _own_text(node: Node) -> str | None:
    """Return the user's text of a node, without the indentation of its first line."""
    if node.span is None:
        return None
    column = node.span.column - 1
    first, *rest = node.span.text.split("\n")
    return "\n".join((first, *(line.removeprefix(" " * column) for line in rest)))
