"""Where the variables of prim funcs are known: definition before use, and loop variables in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

from relax_core.check.rules.impossible import impossible_buffers
from relax_core.diagnostics import Diagnostic
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import CommReducer, LetExpr, PrimVar
from relax_core.ir.tir import Allocate, AttrStmt, Block, Buffer, DeclBuffer, For, LaunchThread, LetStmt, PrimFunc, Stmt
from relax_core.source import Span


@dataclass(frozen=True, slots=True)
class _Open:
    """The start of the scope of variables; `is_one` tells that they have no other definition."""

    variables: tuple[PrimVar, ...]
    block: Block | None = None
    is_loop: bool = False
    is_one: bool = True


@dataclass(frozen=True, slots=True)
class _Close:
    """The end of a scope."""

    variables: tuple[PrimVar, ...]
    block: Block | None = None


_Part: TypeAlias = Node | _Open | _Close


@dataclass(slots=True)
class _PrimScope:
    """What is known at a place: the variables, the blocks around it, and inside how many each loop stands."""

    known: set[PrimVar]
    blocks: list[Block] = field(default_factory=list[Block])
    level_of: dict[PrimVar, int] = field(default_factory=dict[PrimVar, int])
    defined: set[PrimVar] = field(default_factory=set[PrimVar])
    reported: set[PrimVar] = field(default_factory=set[PrimVar])


class _Scopes:
    """Remembers what is found in each function while it lives: passes leave most prim funcs as they are."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[PrimFunc, tuple[Diagnostic, ...]] = WeakKeyDictionary()

    def of(self, prim_func: PrimFunc) -> tuple[Diagnostic, ...]:
        found = self._found.get(prim_func)
        if found is None:
            found = self._found[prim_func] = (*_scopes(prim_func), *impossible_buffers(prim_func))
        return found


_SCOPES = _Scopes()


def scopes(prim_func: PrimFunc) -> tuple[Diagnostic, ...]:
    """Return the variables that are used where they are not defined, once each, or are defined twice.

    A variable that nothing at all defines is an error only where the function says that schedules may change it. There
    also loop variables that a block with axes uses, although their loop stands outside of it.
    Complexity: linear in the body.

    See: tvm/src/tirx/analysis/verify_well_formed.cc
    """
    return _SCOPES.of(prim_func)


def _scopes(prim_func: PrimFunc) -> Iterator[Diagnostic]:
    symbols = (part for item in prim_func.buffers for part in preorder(item.buffer) if isinstance(part, PrimVar))
    place = _PrimScope({*prim_func.params, *symbols})
    stack: list[tuple[_Part, Span | None]] = [(prim_func.body, prim_func.span)]
    while stack:
        part, span = stack.pop()
        match part:
            case PrimVar():
                yield from _used(place, part, span, has_blocks=prim_func.is_s_tir is True)
            case _Open():
                yield from _entered(place, part, span)
            case _Close(variables=variables, block=block):
                place.known.difference_update(variables)
                if block is not None:
                    place.blocks.pop()
            case _:
                here = part.span or span if isinstance(part, Stmt) else span
                stack += [(item, here) for item in reversed(_parts(part))]


def _parts(node: Node) -> tuple[_Part, ...]:
    """Return the parts of a node in the order in which they are met, with the scopes that it opens and ends."""
    match node:
        case For(var=var, start=start, extent=extent, body=body):
            step = () if node.step is None else (node.step,)
            return (start, extent, *step, _Open((var,), is_loop=True), body, _Close((var,)))
        case LetStmt(var=var, value=value, body=body) | LetExpr(var=var, value=value, body=body):
            return (value, _Open((var,)), body, _Close((var,)))
        case Allocate(var=var, extents=extents, body=body):
            condition = () if node.condition is None else (node.condition,)
            return (*extents, *condition, _Open((var,)), body, _Close((var,)))
        case LaunchThread(var=var, extent=extent, body=body):
            return (extent, _Open((var,), is_one=False), body, _Close((var,)))
        case CommReducer(params=params, results=results, identity=identity):
            return (*identity, _Open(params, is_one=False), *results, _Close(params))
        case AttrStmt(subject=PrimVar(), value=value, body=body):
            # The loop that a pragma was said of may be gone; its variable is a name.
            return (value, body)
        case DeclBuffer(buffer=buffer, pointer=pointer, body=body):
            return (*(() if pointer is None else (pointer,)), *children(buffer), body)
        case Block():
            return _block_parts(node)
        case _:
            return tuple(item for item in children(node) if not isinstance(item, Buffer))


def _block_parts(block: Block) -> tuple[_Part, ...]:
    """A matched buffer defines the variables of its strides and offset, as a parameter does."""
    axes = tuple(axis.var for axis in block.iter_vars)
    bound = [part for axis in block.iter_vars for part in children(axis) if part is not axis.var]
    matched = (part for item in block.matches for part in preorder(item.buffer) if isinstance(part, PrimVar))
    symbols = tuple(dict.fromkeys(item for item in matched))
    inner = [item for item in (*(block.reads or ()), *(block.writes or ()), block.init, block.body) if item is not None]
    regions = (match.region for match in block.matches)
    predicate = () if block.predicate is None else (block.predicate,)
    # What a matched buffer names may be known already; then it ends with what defined it.
    return (
        *bound, *predicate, _Open(axes, block), *regions, _Open(symbols, is_one=False), *inner, _Close(axes, block),
    )  # fmt: skip


def _entered(place: _PrimScope, scope: _Open, span: Span | None) -> Iterator[Diagnostic]:
    for var in scope.variables:
        if scope.is_one and var in place.defined:
            yield Diagnostic("WF022", f"{var.name} is defined twice", span, "give each definition a name of its own")
        place.defined.add(var)
        place.known.add(var)
        if scope.is_loop:
            place.level_of[var] = len(place.blocks)
    if scope.block is not None:
        place.blocks.append(scope.block)


def _used(place: _PrimScope, var: PrimVar, span: Span | None, *, has_blocks: bool) -> Iterator[Diagnostic]:
    if var in place.reported:
        return
    if var not in place.known:
        place.reported.add(var)
        # A variable that nothing defines was accepted until 2024, and in what TVM 0.25 has lowered.
        is_free = var not in place.defined
        message = f"{var.name} has no value" if is_free else f"{var.name} has no value here"
        severity = "warning" if is_free and not has_blocks else "error"
        yield Diagnostic("WF022", message, span, "make it a parameter, or use it where it is defined", severity)
        return
    level = place.level_of.get(var)
    if level is None or not has_blocks:
        return
    block = next((item for item in place.blocks[level:] if item.iter_vars), None)
    if block is not None:
        place.reported.add(var)
        message = f"the loop variable {var.name} is used in the block {block.name or 'around it'}, which has axes"
        yield Diagnostic("WF023", message, span, f"bind it to an axis: v = T.axis.spatial(extent, {var.name})")
