"""Properties of a module that passes need and give, each with the node that breaks it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import TypeVar, cast

from relax_core.ir.attrs import attr
from relax_core.ir.dialect import relay_parts
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    If,
    Null,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    VarBinding,
    is_leaf,
    op_name,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimVar, StringImm
from relax_core.ir.tir import Block

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about modules: `claim` completes "a module ...", `culprits` yields the nodes that break it."""

    name: str
    claim: str
    culprits: Callable[[IRModule], Iterator[Node]]


def culprit(module: IRModule, name: str) -> Node | None:
    """Return the first node that breaks the property `name`, `None` if it holds."""
    return next(PROPERTIES[name].culprits(module), None)


@lru_cache(maxsize=1)
def _nodes(module: IRModule) -> Mapping[type[Node], Sequence[tuple[int, Node]]]:
    """Return the nodes of the Relax functions by class, each with its place in the order of all.

    They are cached, since all properties of a module are checked in a row, and most ask for one class.
    """
    found: defaultdict[type[Node], list[tuple[int, Node]]] = defaultdict(list)
    nodes = (node for _, function in module.relax_functions for node in nodes_in(function))
    for place, current in enumerate(nodes):
        found[type(current)].append((place, current))
    return found


def _nodes_of(module: IRModule, kind: type[N]) -> Iterator[N]:
    """Yield the nodes of one class in the order of the text."""
    return (cast("N", node) for _, node in _nodes(module).get(kind, ()))


def _culprits_in(
    module: IRModule, kinds: tuple[type[Node], ...], culprits_of: Callable[[Node], Iterable[Node]]
) -> list[Node]:
    """Return the culprits that nodes of some classes have, in the order of the text."""
    of_kind = _nodes(module)
    placed = [(place, found) for kind in kinds for place, node in of_kind.get(kind, ()) for found in culprits_of(node)]
    return [found for _, found in sorted(placed, key=itemgetter(0))]


def _not_normal(module: IRModule) -> Iterator[Node]:
    return iter(_culprits_in(module, (Function, If, SeqExpr, Call, TupleGetItem, VarBinding), _not_normal_in))


def _not_normal_in(current: Node) -> Iterable[Node]:
    match current:
        case Call(op=op, args=args):
            return [part for part in (op, *args) if not _is_leaf(part)]
        case VarBinding(value=SeqExpr() as value):
            return (value,)
        case TupleGetItem(tuple_value=value) if not _is_leaf(value):
            return (value,)
        case Function(body=body) if not isinstance(body, SeqExpr):
            return (body,)
        case If(true_branch=yes, false_branch=no):
            return [branch for branch in (yes, no) if not isinstance(branch, SeqExpr)]
        case SeqExpr(body=body) if not _is_leaf(body):
            return (body,)
        case _:
            return ()


def _is_leaf(value: Expr) -> bool:
    return is_leaf(value) or (isinstance(value, Tuple) and all(map(_is_leaf, value.fields)))


def _local_functions(module: IRModule) -> Iterator[Node]:
    own = {function for _, function in module.relax_functions}
    return (item for item in _nodes_of(module, Function) if item not in own)


def _dataflow_blocks(module: IRModule) -> Iterator[Node]:
    return _nodes_of(module, DataflowBlock)


def _operator_calls(*names: str) -> Callable[[IRModule], Iterator[Node]]:
    def culprits(module: IRModule) -> Iterator[Node]:
        return (item for item in _nodes_of(module, Call) if op_name(item) in names)

    return culprits


def _symbolic_values(module: IRModule) -> Iterator[Node]:
    """Yield shapes and scalars that are computed at run time, and checks that are not lowered."""
    yield from (function for _, function in module.relax_functions if not has_shape_heap(function))
    yield from _culprits_in(module, (ShapeExpr, PrimValue), lambda item: (item,) if _is_symbolic(item) else ())


def _is_symbolic(item: Node) -> bool:
    if isinstance(item, PrimValue):
        return not isinstance(item.value, IntImm | FloatImm | StringImm)
    return any(isinstance(part, PrimVar) for part in preorder(item))


def has_shape_heap(function: Function) -> bool:
    """Tell whether `function` begins with its shape heap, as VMShapeLower makes it."""
    match function.body:
        case SeqExpr(blocks=(BindingBlock(bindings=(VarBinding(var=var, value=Null() | Call()), *_)), *_)):
            return var.name == SHAPE_HEAP
        case _:
            return False


def _without_symbol(module: IRModule) -> Iterator[Node]:
    for item in module.definitions:
        if item.function.is_private:
            yield item.function


def _unlinked(module: IRModule) -> Iterator[Node]:
    return (item.function for item in module.definitions if attr(item.function.attrs, "External"))


def _in_prim_funcs(kind: type[N], breaks: Callable[[N], bool]) -> Callable[[IRModule], Iterator[Node]]:
    def culprits(module: IRModule) -> Iterator[Node]:
        for _, function in module.prim_funcs:
            yield from (item for item in preorder(function.body) if isinstance(item, kind) and breaks(item))

    return culprits


def _unpromised(module: IRModule) -> Iterator[Node]:
    for _, function in module.relax_functions:
        if function.is_pure and attr(function.attrs, FORCE_PURE) is not True:
            yield function


FORCE_PURE = "relax.force_pure"
SHAPE_HEAP = "shape_heap"
DESTINATION_CALLS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
MEMORY_CALLS = ("relax.memory.alloc_storage", "relax.memory.alloc_tensor", "relax.memory.kill_storage",
                "relax.memory.kill_tensor")  # fmt: skip
CLOSURE_CALLS = ("relax.make_closure", "relax.invoke_closure", "relax.invoke_pure_closure")

PROPERTIES: Mapping[str, Property] = MappingProxyType(
    {
        item.name: item
        for item in (
            Property("in Relax", "without what only Relay has", relay_parts),
            Property("linked backends", "whose external functions have a body of the reference backend", _unlinked),
            Property("normal form", "in A-normal form", _not_normal),
            Property("no local functions", "without local functions", _local_functions),
            Property("no dataflow blocks", "without dataflow blocks", _dataflow_blocks),
            Property("explicit destinations", "without call_tir", _operator_calls(*DESTINATION_CALLS)),
            Property("explicit storage", "without builtin.alloc_tensor", _operator_calls("relax.builtin.alloc_tensor")),
            Property("runtime builtins", "whose operators on memory, closures and devices are lowered",
                     _operator_calls(*MEMORY_CALLS, *CLOSURE_CALLS, "relax.to_vdevice")),
            Property("computed shapes", "whose shape checks and symbolic shapes are lowered", _symbolic_values),
            Property("purity promised", "whose pure functions promise it (relax.force_pure)", _unpromised),
            Property("no init blocks", "whose blocks have no init statements",
                     _in_prim_funcs(Block, lambda block: block.init is not None)),
            Property("opaque blocks", "whose blocks have no iteration variables",
                     _in_prim_funcs(Block, lambda block: bool(block.iter_vars))),
            Property("no blocks", "whose prim funcs have no blocks", _in_prim_funcs(Block, lambda _: True)),
            Property("global symbols", "whose functions all have a global_symbol", _without_symbol),
        )
    }
)  # fmt: skip
