"""Properties of a module that passes need and give, each with the node that breaks it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from relax_core.ir.attrs import attr, has_attr
from relax_core.ir.dialect import relay_parts
from relax_core.ir.expr import (
    LEAVES,
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
    op_name,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimVar, StringImm


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
def _nodes(module: IRModule) -> tuple[Node, ...]:
    """Return the nodes of the Relax functions; cached, since all properties of a module are checked in a row."""
    return tuple(node for _, function in module.relax_functions for node in preorder(function))


def _not_normal(module: IRModule) -> Iterator[Node]:
    for current in _nodes(module):
        match current:
            case Function(body=body) if not isinstance(body, SeqExpr):
                yield body
            case If(true_branch=yes, false_branch=no):
                yield from (branch for branch in (yes, no) if not isinstance(branch, SeqExpr))
            case SeqExpr(body=body) if not _is_leaf(body):
                yield body
            case Call(op=op, args=args):
                yield from (part for part in (op, *args) if not _is_leaf(part))
            case TupleGetItem(tuple_value=value) if not _is_leaf(value):
                yield value
            case VarBinding(value=SeqExpr() as value):
                yield value
            case _:
                pass


def _is_leaf(value: Expr) -> bool:
    return isinstance(value, LEAVES) or (isinstance(value, Tuple) and all(_is_leaf(item) for item in value.fields))


def _local_functions(module: IRModule) -> Iterator[Node]:
    for _, function in module.relax_functions:
        yield from (item for item in preorder(function) if isinstance(item, Function) and item is not function)


def _dataflow_blocks(module: IRModule) -> Iterator[Node]:
    return (item for item in _nodes(module) if isinstance(item, DataflowBlock))


def _operator_calls(*names: str) -> Callable[[IRModule], Iterator[Node]]:
    def culprits(module: IRModule) -> Iterator[Node]:
        return (item for item in _nodes(module) if isinstance(item, Call) and op_name(item) in names)

    return culprits


def _symbolic_values(module: IRModule) -> Iterator[Node]:
    """Yield shapes and scalars that are computed at run time, and checks that are not lowered."""
    yield from (function for _, function in module.relax_functions if not has_shape_heap(function))
    for item in _nodes(module):
        match item:
            case ShapeExpr() | PrimValue() if any(isinstance(part, PrimVar) for part in preorder(item)):
                yield item
            case PrimValue(value=value) if not isinstance(value, IntImm | FloatImm | StringImm):
                yield item
            case _:
                pass


def has_shape_heap(function: Function) -> bool:
    """Tell whether `function` begins with its shape heap, as VMShapeLower makes it."""
    match function.body:
        case SeqExpr(blocks=(BindingBlock(bindings=(VarBinding(var=var, value=Null() | Call()), *_)), *_)):
            return var.name == SHAPE_HEAP
        case _:
            return False


def _without_symbol(module: IRModule) -> Iterator[Node]:
    for item in module.definitions:
        if not item.function.is_private and not has_attr(item.function.attrs, "global_symbol"):
            yield item.function


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
            Property("normal form", "in A-normal form", _not_normal),
            Property("no local functions", "without local functions", _local_functions),
            Property("no dataflow blocks", "without dataflow blocks", _dataflow_blocks),
            Property("explicit destinations", "without call_tir", _operator_calls(*DESTINATION_CALLS)),
            Property("explicit storage", "without builtin.alloc_tensor", _operator_calls("relax.builtin.alloc_tensor")),
            Property("runtime builtins", "whose operators on memory, closures and devices are lowered",
                     _operator_calls(*MEMORY_CALLS, *CLOSURE_CALLS, "relax.to_vdevice")),
            Property("computed shapes", "whose shape checks and symbolic shapes are lowered", _symbolic_values),
            Property("purity promised", "whose pure functions promise it (relax.force_pure)", _unpromised),
            Property("global symbols", "whose public functions have a global_symbol", _without_symbol),
        )
    }
)  # fmt: skip
