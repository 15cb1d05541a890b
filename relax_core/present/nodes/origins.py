"""Origins: from the text of a stage, the bytecode and the kernels back to the lines of the user's source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relax_core.bytecode.executable import Executable, instruction_text
from relax_core.bytecode.places import last_statement, parts
from relax_core.ir.expr import BindingBlock, Call, Function, GlobalVar, SeqExpr
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.present.kernel_models import KernelText, KernelView
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.nodes.origin_models import OriginLayer, OriginLine
from relax_core.printer.printed import Printed
from relax_core.source import Source

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Maps nodes to lines of `source` through a log; nodes from other texts, such as Relay's prelude, have none."""

    log: RewriteLog
    source: Source
    known: dict[Node, tuple[int, ...]] = field(default_factory=dict[Node, tuple[int, ...]])

    def of(self, node: Node) -> tuple[int, ...]:
        """Return all lines that a node stems from, ascending; a result stems from the line that returns it."""
        if node not in self.known:
            self.known[node] = self._of_result(node) if isinstance(node, SeqExpr) else self._of(parts(node))
        return self.known[node]

    def _of(self, nodes: tuple[Node, ...]) -> tuple[int, ...]:
        found = (item.span for item in self.log.ancestry_of(nodes))
        return tuple(sorted({span.line for span in found if span is not None and span.source is self.source}))

    def _of_result(self, node: SeqExpr) -> tuple[int, ...]:
        span = self.log.locate(node)
        return () if span is None or span.source is not self.source else (last_statement(span).line,)

    def in_kernel(self, node: Node, served: frozenset[int]) -> tuple[int, ...]:
        """Return the lines that a part of a prim func stems from, as called from the lines `served`.

        Calls that no longer exist are left out. A part with text of its own in the source has that line.
        """
        found = self.of(node)
        span = node.span
        own = {span.line} if span is not None and span.source is self.source else set[int]()
        return tuple(sorted(served.intersection(found) | own)) or found or tuple(sorted(served))

    def served(self, module: IRModule) -> Mapping[str, frozenset[int]]:
        """Return the lines of the calls of each function of `module`, by name."""
        found: dict[str, set[int]] = {}
        for _, function in module.relax_functions:
            for call in preorder(function):
                if isinstance(call, Call):
                    names = [item.name for item in (call.op, *call.args) if isinstance(item, GlobalVar)]
                    for name in names:
                        found.setdefault(name, set()).update(self.of(call))
        return {name: frozenset(lines) for name, lines in found.items()}


def source_layer(index: NodeIndex, lines: Lines) -> OriginLayer:
    """Return the user's text: a line in which a node begins stems from itself."""
    texts = lines.source.text.split("\n")
    begun = {line for nodes in index.nodes_of.values() for node in nodes for line in lines.of(node)}
    rows = (OriginLine(at, text, (at,) if at in begun else ()) for at, text in enumerate(texts, 1))
    return OriginLayer("Source", "stage", tuple(rows), 0)


def stage_layer(name: str, printed: Printed, index: NodeIndex, lines: Lines) -> OriginLayer:
    """Return the text of a module; a line has the origins of the outermost node that begins in it."""
    served = lines.served(index.module)
    own = {
        node: served.get(item.var.name, _NONE)
        for item in index.module
        if isinstance(item.function, PrimFunc)
        for node in (item, *preorder(item.function))
    }
    texts = printed.text.rstrip("\n").split("\n")
    rows: list[OriginLine] = []
    for number, (text, node) in enumerate(zip(texts, _first_nodes(printed, texts), strict=True), 1):
        found = () if node is None else lines.of(node)
        if node is not None and node in own:
            found = lines.in_kernel(node, own[node])
        rows.append(OriginLine(number, text, found, index.id_of(node)))
    return OriginLayer(name, "stage", tuple(rows), index.stage)


def _first_nodes(printed: Printed, texts: list[str]) -> Iterator[Node | None]:
    """Yield for each line the outermost node that begins in it; for a `return` the body of the function it ends."""
    results = {item.end: item.node.body for item in printed.ranges if isinstance(item.node, Function)}
    nodes = [item for item in printed.ranges if not isinstance(item.node, IRModule | GlobalVar | BindingBlock)]
    start, at = 0, 0
    for text in texts:
        end = start + len(text)
        while at < len(nodes) and nodes[at].start < start:
            at += 1
        is_in = at < len(nodes) and nodes[at].start < end
        first = nodes[at].node if is_in else None
        yield results.get(end, first) if text.lstrip().startswith("return") else first
        start = end + 1


def bytecode_layer(executable: Executable, lines: Lines) -> OriginLayer:
    """Return the instructions, each with the lines that it stems from."""
    rows = (
        OriginLine(pc, instruction_text(executable, pc), lines.of(node)) for pc, node in enumerate(executable.nodes)
    )
    return OriginLayer("bytecode", "bytecode", tuple(rows))


def kernel_layer(name: str, printed: Printed, function: PrimFunc, served: frozenset[int], lines: Lines) -> OriginLayer:
    """Return the TIR of a kernel; `served` are the lines of its calls."""
    found = tir_lines(printed, function, served, lines)
    rows = (OriginLine(at, text, found.get(at, ())) for at, text in enumerate(printed.text.rstrip("\n").split("\n"), 1))
    return OriginLayer(f"kernel {name}", "kernel", tuple(rows))


def tir_lines(
    printed: Printed, function: PrimFunc, served: frozenset[int], lines: Lines
) -> Mapping[int, tuple[int, ...]]:
    """Return for each line of the text of a prim func the lines of the source that it stems from."""
    found: dict[int, tuple[int, ...]] = {}
    inside = set(preorder(function.body))
    starts = _line_numbers(printed.text)
    for item in printed.ranges:
        if item.node in inside:
            found.setdefault(starts[item.start], lines.in_kernel(item.node, served))
    # The head belongs to all calls.
    head = next((item.start for item in printed.ranges if item.node is function), 0)
    for at in (starts[head], starts[head] + 1) if starts else ():
        found[at] = tuple(sorted(served.union(lines.in_kernel(function, served))))
    return found


def _line_numbers(text: str) -> list[int]:
    """Return the number of the line of each character."""
    line = 1
    numbers: list[int] = []
    for character in text:
        numbers.append(line)
        line += character == "\n"
    return numbers


def code_layers(view: KernelView) -> tuple[OriginLayer, ...]:
    """Return the LLVM IR and the machine code of a kernel: their lines stem from the parts of its TIR."""
    of_part = {part.number: part.origins for part in view.parts}
    made: list[OriginLayer] = []
    texts: tuple[tuple[str, KernelText], ...] = (("llvm", view.optimised), ("asm", view.assembly))
    for kind, text in texts:
        pairs = zip(text.lines, text.text.split("\n"), strict=True)
        rows = tuple(OriginLine(line.number, words, of_part.get(line.part, ())) for line, words in pairs)
        made.append(OriginLayer(f"{kind} {view.name}", "llvm" if kind == "llvm" else "asm", rows))
    return tuple(made)
