"""Places where a kernel may stop, and the diagnostics that they turn into."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, For, MatchRegion
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.source import Span

SiteKind = Literal["range", "zero", "shift", "assert", "fuel", "view", "unwritten", "overflow", "count"]
Locate = Callable[[Node], Span | None]

SINGULAR = 1


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a kernel may stop.

    `recorded` names the integers that it writes into the error record: first the operands of the check (for "range" the
    index and the extent, for "unwritten" the indices, for "view" the needed bytes and the room, or what a region needs
    and has, for "count" the first value of a loop and its extent), then the loop and block variables that are visible.
    `dimension` is -1 for a view of another size than declared.
    """

    kind: SiteKind
    node: Node
    recorded: tuple[str, ...] = ()
    dimension: int = 0
    hint: str = ""


def unsupported(what: str, node: Node, locate: Locate, hint: str = "") -> CompileError:
    """Make the error for a construct that cannot be compiled."""
    return CompileError((Diagnostic("JT001", f"{what} cannot be compiled", locate(node), hint),))


def unknown_dtype(dtype: str, node: Node, locate: Locate) -> CompileError:
    """Make the error for a dtype that kernels do not compute with."""
    hint = f"Kernels compute with {', '.join(SCALAR_TYPES)}."
    whose = f" of `{show_prim(node)}`" if isinstance(node, PrimExpr) else ""
    return CompileError((Diagnostic("JT002", f"The dtype {dtype}{whose} cannot be compiled", locate(node), hint),))


def diagnose(site: Site, values: Sequence[int], locate: Locate) -> Diagnostic:
    """Say what was found at `site`; `values` belong to its `recorded` names."""
    span = locate(site.node)
    where = _where(site.recorded, values)
    match site.kind:
        case "range":
            return Diagnostic("JT010", _out_of_range(site, values, where), span, site.hint)
        case "zero":
            hint = "Guard the division with T.if_then_else, or make sure that the divisor is never 0."
            return Diagnostic("JT011", f"Division by zero: `{_text(site.node)}`{where}", span, hint)
        case "shift":
            message = f"Shift amount {values[0]} is not in [0, {values[1]}): `{_text(site.node)}`{where}"
            return Diagnostic("JT012", message, span, "Shift by less than the number of bits of the dtype.")
        case "assert":
            return Diagnostic("JT013", f"Assertion failed: {site.hint}{where}", span)
        case "view":
            return Diagnostic("JT019", f"{_outside(site, values)}{where}", span)
        case "unwritten":
            assert isinstance(site.node, BufferLoad), "only loads are checked so"
            element = f"{site.node.buffer.name}[{', '.join(map(str, values[: len(site.node.indices)]))}]"
            hint = f"Store to `{site.node.buffer.name}` before, such as in a block's T.init()."
            return Diagnostic("JT020", f"`{element}` is read before anything is written there{where}", span, hint)
        case "overflow":
            hint = "Count in int64, or in parts that fit."
            return Diagnostic("JT021", f"`{_text(site.node)}` does not fit {site.hint}{where}", span, hint)
        case "count":
            assert isinstance(site.node, For), "only loops count"
            start, extent = values[:2]
            found = f"takes the {extent} values from {start} on" if start else f"takes {extent} values"
            message = f"The loop over `{site.node.var.name}` {found}, which {site.hint} does not hold{where}"
            return Diagnostic("JT022", message, span, "Give the bounds of the loop a wider dtype.")
        case "fuel":
            return Diagnostic("JT015", f"The limit of work in loops was reached in {site.hint}{where}", span)


def cancelled(site: Site, values: Sequence[int], locate: Locate) -> Diagnostic:
    """Say where a kernel was when it was cancelled."""
    return Diagnostic("JT014", f"Cancelled in {site.hint}{_where(site.recorded, values)}", locate(site.node))


def _out_of_range(site: Site, values: Sequence[int], where: str) -> str:
    assert isinstance(site.node, BufferLoad | BufferStore)
    buffer, index = site.node.buffer, site.node.indices[site.dimension]
    access = f"{buffer.name}[{', '.join(show_prim(item) for item in site.node.indices)}]"
    how = "load" if isinstance(site.node, BufferLoad) else "store"
    value, extent = values[0], values[1]
    found = show_prim(index)
    shown = found if found == str(value) else f"{found} = {value}"
    has = _extent(buffer, site.dimension, extent)
    return f"Out of range. `{access}`: {shown}, but {buffer.name} has {has} ({how}{where})"


def _outside(site: Site, values: Sequence[int]) -> str:
    """Say how a view does not fit the memory that it is a view of."""
    needed, room = values[:2]
    match site.node:
        case MatchRegion(buffer=view, region=region) if site.dimension < 0:
            return f"`{view.name}` is declared with {room} where its region of `{region.buffer.name}` has {needed}"
        case MatchRegion(buffer=view, region=region):
            source = region.buffer
            has = _extent(source, site.dimension, room)
            return f"Out of range. The region of `{view.name}` ends at {needed}, but {source.name} has {has}"
        case _:
            what = f"The view `{site.hint}`" if site.hint else f"`{_text(site.node)}`"
            return f"Out of range. {what} reaches to byte {needed} of memory that has {_count(room, 'byte')}"


def _extent(buffer: Buffer, dimension: int, extent: int) -> str:
    match len(buffer.shape), dimension:
        case 1, _:
            return _count(extent, "element")
        case 2, 0:
            return _count(extent, "row")
        case 2, 1:
            return _count(extent, "column")
        case _:
            return f"extent {extent} in dimension {dimension}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == SINGULAR else f"{count} {noun}s"


def _where(names: Sequence[str], values: Sequence[int]) -> str:
    """Say the loop and block variables: the names that are not empty."""
    shown = [f"{name} = {value}" for name, value in zip(names, values, strict=True) if name]
    return f" at {', '.join(shown)}" if shown else ""


def _text(node: Node) -> str:
    return show_prim(node) if isinstance(node, PrimExpr) else ""
