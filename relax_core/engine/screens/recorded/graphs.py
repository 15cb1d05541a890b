"""Answers about two stages of a recording: their functions beside each other, one graph of both, their structure."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final, cast

from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    RecordedFunctionsOf,
    RecordedGraphOf,
    RecordedStructureOf,
)
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.replies import FunctionRow, RecordedFunctions
from relax_core.ir.attrs import attr
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Function, TensorType, Var, VarBinding
from relax_core.ir.module import BaseFunc, Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import BufferStore, PrimFunc
from relax_core.present.diffs.structure import StructureText, structure
from relax_core.present.drawings.compare import union
from relax_core.present.drawings.drawing import fold
from relax_core.present.drawings.flow import GraphContext, draw_functions
from relax_core.present.drawings.graph import Openness, compare_graph, present
from relax_core.present.drawings.tir_flow import draw_prim_func
from relax_core.present.models import Graph, Mark, Structure
from relax_core.present.nodes.node_id import index_nodes

_DEVICE_KERNEL: Final = 2
_ROW_LIMIT: Final = 2000
_REGION_ATTRS: Final = (("Codegen", "for"), ("Composite", "composite"))


def functions(message: RecordedFunctionsOf, context: RequestContext) -> RecordedFunctions:
    """List the functions of two stages: what became of each, its region and its target."""
    before, after = _modules(message, context)
    rows = tuple(_rows(before, after))
    return RecordedFunctions(rows[:_ROW_LIMIT], len(rows))


def graph(message: RecordedGraphOf, context: RequestContext) -> Graph:
    """Draw what changed between two stages as one graph: the Relax functions, or one prim func."""
    before, after = _modules(message, context)
    sides = _drawn(before, 0), _drawn(after, 1)
    log = _matched(before, after)
    if message.function:
        return _prim_func_graph(message.function, sides, log)
    changed = tuple(row.name for row in _rows(before, after) if row.kind == "Relax" and row.mark != "unchanged")
    if not changed:
        return Graph("", title="Compare", empty_title="No change", empty_text="No Relax function is another one here.")
    return compare_graph(*sides, log, changed, Openness(message.opened))


def structure_of(message: RecordedStructureOf, context: RequestContext) -> Structure:
    """Compare the parts of two stages, in whose texts a line of either is named as `a/3` or `b/3`."""
    before, after = _modules(message, context)
    left, right = (
        StructureText(module, _line_of, partial(_place, side)) for side, module in (("a", before), ("b", after))
    )
    return structure(left, right)


def _place(side: str, node: Node) -> str:
    return f"{side}/{_line_of(node)}" if node.span is not None else ""


def _modules(
    message: RecordedFunctionsOf | RecordedGraphOf | RecordedStructureOf, context: RequestContext
) -> tuple[IRModule, IRModule]:
    opened = context.recorded_by(message.parcel)
    left, right = (_module(opened, position) for position in (message.left, message.right))
    return left, right


def _module(opened: "pipelines.Pipeline", position: int) -> IRModule:
    """Return the module of the stage at a position, also of a text that has errors, as far as it was read."""
    if not 0 <= position < len(opened.stages):
        message = f"there is no stage at position {position}; the last one is at {len(opened.stages) - 1}"
        raise CompileError((Diagnostic("PL013", message),))
    parsed = opened.parsed(opened.stages[position])
    if not parsed.modules:
        raise CompileError(parsed.diagnostics)
    return parsed.modules[0]


def _rows(before: IRModule, after: IRModule) -> Iterator[FunctionRow]:
    for name in dict.fromkeys((*after.names, *before.names)):
        old, new = before.find(name), after.find(name)
        shown = new or old
        assert shown is not None
        lines = [_line_of(item.function) if item is not None else 0 for item in (old, new)]
        kind = "prim func" if isinstance(shown.function, PrimFunc) else "Relax"
        function = shown.function
        yield FunctionRow(name, kind, _mark(old, new), lines[0], lines[1], _region(function), _placed(function))


def _mark(old: Definition | None, new: Definition | None) -> Mark:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    return "unchanged" if structural_equal(old.function, new.function) else "changed"


def _region(function: BaseFunc) -> str:
    """Name the compiler region that a function is, "" for none."""
    words = ((word, attr(function.attrs, key)) for key, word in _REGION_ATTRS)
    return ", ".join(f"{word} {value}" for word, value in words if isinstance(value, str) and value)


def _placed(function: BaseFunc) -> str:
    """Name what a function is compiled for and runs on, as far as its text says that."""
    kinds = list(filter(None, _target(attr(function.attrs, "target"))))
    if attr(function.attrs, "calling_conv") == _DEVICE_KERNEL:
        kinds.append("kernel")
    if isinstance(function, Function):
        types = (node.annotation for node in preorder(function) if isinstance(node, Var))
        kinds += [item.vdevice for item in types if isinstance(item, TensorType) and item.vdevice]
    return ", ".join(dict.fromkeys(kinds))


def _target(value: object) -> Iterator[str]:
    """Yield the kind of a target and then that of its host, however the text writes them: `T.target({...})`, a name."""
    if isinstance(value, str):
        yield value
        return
    try:
        # A call is an attribute of its name, of positional arguments and of named ones.
        ((_, ((given, *_), _)),) = cast("Any", value)
        fields: dict[str, Any] = dict(given)
        host: dict[str, Any] = dict(fields.get("host", ()))
    except (TypeError, ValueError):
        return
    yield str(fields.get("kind", ""))
    yield f"host {host['kind']}" if host.get("kind", fields.get("kind")) != fields.get("kind") else ""


def _drawn(module: IRModule, stage: int) -> GraphContext:
    return GraphContext(module, infer(module).types, index_nodes(module, stage), _line_of, _end_line_of)


def _line_of(node: Node) -> int:
    return node.span.line if node.span is not None else 0


def _end_line_of(node: Node) -> int:
    return node.span.end_line_column[0] if node.span is not None else 0


def _matched(before: IRModule, after: IRModule) -> RewriteLog:
    """Return a log that leads from what a function binds and stores to what bound and stored the same name before."""
    log = RewriteLog()
    for item in after:
        old = before.find(item.var.name)
        if old is None:
            continue
        known = _named(old.function)
        for key, node in _named(item.function).items():
            if key in known:
                log.rebuilt(known[key], node)
    return log


def _named(function: BaseFunc) -> dict[tuple[str, int], Node]:
    """Return the bindings and stores of a function by name and by how often the name occurred in front of them."""
    found: dict[tuple[str, int], Node] = {}
    counts: dict[str, int] = {}

    def add(name: str, node: Node) -> None:
        counts[name] = counts.get(name, 0) + 1
        found[name, counts[name]] = node

    for node in preorder(function):
        match node:
            case VarBinding(var=var):
                add(f"binding {var.name}", node)
            case BufferStore(buffer=buffer):
                add(f"store {buffer.name}", node)
            case Var(name=name) if isinstance(function, Function) and node in function.params:
                add(f"param {name}", node)
            case _:
                pass
    return found


def _prim_func_graph(name: str, sides: tuple[GraphContext, GraphContext], log: RewriteLog) -> Graph:
    """Draw a prim func before and after; one that only one side has is drawn alone."""
    found = tuple(facts.module.find(name) for facts in sides)
    if all(item is None or isinstance(item.function, Function) for item in found):
        return Graph("", title=f"@{name}", empty_text=f"Neither stage has a prim func `{name}`.")
    before, after = (
        draw_prim_func(name, item.function, facts)
        if item is not None and isinstance(item.function, PrimFunc)
        else draw_functions((), facts, "")
        for item, facts in zip(found, sides, strict=True)
    )
    return present(fold(union(before, after, log, f"@{name}")))
