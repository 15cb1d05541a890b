"""The graph for Relax's fusion: the bindings of a dataflow block, and the access pattern of each use.

See: tvm/src/relax/transform/fuse_ops.cc, GraphCreator
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.analysis.fusion_graph import FusionGraph, FusionNode, Kind
from relax_core.analysis.tir_pattern import prim_func_kind
from relax_core.ir.expr import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    GlobalVar,
    Op,
    TupleGetItem,
    Var,
    tuple_leaves,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder

_CALLS = ("relax.call_tir", "relax.call_tir_inplace")


def prim_func_kinds(module: IRModule) -> Mapping[str, Kind]:
    """Return the kind of each prim func of a module, by its name."""
    return MappingProxyType({var.name: prim_func_kind(function) for var, function in module.prim_funcs})


def dataflow_graph(block: DataflowBlock, kinds: Mapping[str, Kind]) -> FusionGraph:
    """Return the fusion graph of a dataflow block, a value per binding, by variable. Complexity: linear.

    Values bound outside of the block are not part of it. A call other than `call_tir` is opaque, since its access
    pattern is unknown.
    """
    of: dict[Node, FusionNode] = {}
    for index, binding in enumerate(block.bindings):
        node = FusionNode(index, binding, is_external=not isinstance(binding.var, DataflowVar))
        node.kind, used = _use(binding, kinds)
        for target in dict.fromkeys(of[item] for item in used if item in of):
            target.uses.append((node, node.kind))
        of[binding.var] = node
    return FusionGraph(tuple(of.values()), MappingProxyType(of))


def prim_func_of(binding: Binding) -> GlobalVar | None:
    """Return the prim func that gives the value of a binding, `None` for other values."""
    match binding.value:
        case Call(op=Op(name=name), args=(GlobalVar() as callee, *_)) if name in _CALLS:
            return callee
        case _:
            return None


def _use(binding: Binding, kinds: Mapping[str, Kind]) -> tuple[Kind, Iterator[Expr]]:
    """Return the access pattern of a binding, and the variables whose elements it reads."""
    callee = prim_func_of(binding)
    match binding.value:
        case Call(args=(_, given, *_)) if callee is not None:
            return kinds.get(callee.name, Kind.OPAQUE), tuple_leaves(given)
        case TupleGetItem(tuple_value=source):
            return Kind.INJECTIVE, tuple_leaves(source)
        case value:
            return Kind.OPAQUE, (item for item in preorder(value) if isinstance(item, Var))
