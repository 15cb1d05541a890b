"""Programs and facts that the tests of presenters share."""

from pathlib import Path

from relax_core.bytecode.build import build_stages
from relax_core.check.infer import infer
from relax_core.engine.inputs import generate
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.drawings.flow import GraphContext
from relax_core.present.nodes.node_id import index_nodes
from relax_core.present.running.run import Recording
from relax_core.source import Span
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SEEDS = (
    "seeds/my_ir_module.py",
    "seeds/my_ir_module_guide.py",
    "seeds/print_closure.py",
    "seeds/print_closure2.py",
    "seeds/print_closure2_lifted.py",
)


def parsed(text: str, name: str = "m.py") -> Parsed:
    """Parse a text that has no errors."""
    result = parse_text(text, name)
    assert not [item for item in result.diagnostics if item.severity == "error"], result.diagnostics
    return result


def sample(path: str) -> Parsed:
    """Parse a sample."""
    return parsed((SAMPLES / path).read_text(encoding="utf-8"), path)


def facts_of(module: IRModule, stage: int = 0, log: RewriteLog | None = None) -> GraphContext:
    """Return what a graph shows of `module`."""

    def span_of(node: Node) -> Span | None:
        return node.span if log is None else log.locate(node)

    def line_of(node: Node) -> int:
        span = span_of(node)
        return span.line if span is not None else 0

    def end_line_of(node: Node) -> int:
        span = span_of(node)
        return span.end_line_column[0] if span is not None else 0

    return GraphContext(module, infer(module).types, index_nodes(module, stage), line_of, end_line_of)


def stage_of(module: IRModule, name: str, passes: str) -> tuple[int, Stage]:
    """Run `passes` and return the stage called `name` with its number from 1."""
    stages = run_pipeline(module, passes)
    return next((number, stage) for number, stage in enumerate(stages, 1) if stage.pass_name == name)


def trace_of(program: Parsed, entry: str = "main", sizes: dict[str, int] | None = None) -> Trace:
    """Run a program on made-up arguments."""
    module = program.modules[0]
    executable = build_stages(module, run_pipeline(module))
    function = module[entry]
    assert isinstance(function, Function)
    args = generate(function, 0, sizes or {})
    return Machine(executable).run(entry, entry_arguments(executable, entry, args))


def recording_of(program: Parsed, trace: Trace) -> Recording:
    """Return what a run's presenter takes."""
    index = index_nodes(trace.executable.module, 1)
    return Recording(trace, program.source, index, program.modules[0], "revision", program.source.name)
