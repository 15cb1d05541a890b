"""Drop transformations of layouts that take each other back."""

from collections.abc import Mapping
from dataclasses import replace

from relax_core.ir.attrs import attr
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Call,
    Dims,
    Expr,
    Function,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar, StringImm
from relax_core.ops.tensors.index_map import IndexMap, parse_index_map, places_of
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.redundancy import without_redundancy

_MOST_ELEMENTS = 1 << 20
_REMOVES_PADDING = "remove_pad"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Let what uses a layout that is transformed and transformed back use what it was made from.

    So too where a kernel with the `operator_name` "remove_pad" stands between the two, if they pad with nothing in
    particular. Fused functions stay. What is computed twice then is computed once.

    apache-tvm asks only that the shapes agree, and so takes a transposition of a square for nothing; here the mapping
    of each element has to lead back to it.
    """
    type_of = ctx.types(module)
    removing = frozenset(
        var.name for var, item in module.prim_funcs if attr(item.attrs, "operator_name") == _REMOVES_PADDING
    )

    def change(_: GlobalVar, function: Function) -> Function:
        return function if attr(function.attrs, "Primitive") else _changed(function, type_of, removing, ctx)

    return without_redundancy(module, change_functions(module, ctx, change), ctx)


def _changed(function: Function, type_of: Mapping[Node, Type], removing: frozenset[str], ctx: PassContext) -> Function:
    value_of: dict[Expr, Expr] = {}
    for item in preorder(function):
        match item:
            case VarBinding(var=var, value=Var() as value) if value in value_of:
                value_of[var] = value_of[value]
            case VarBinding(var=var, value=value):
                value_of[var] = value
            case _:
                pass

    def drop(node: Node) -> Node | None:
        """Rule: layout_transform(layout_transform(x)) -> x, if each element comes back to its place."""
        if not isinstance(node, VarBinding):
            return None
        last = _transformation(node.value)
        middle = None if last is None else value_of.get(_without_kernel(last.args[0], value_of, removing))
        first = None if middle is None else _transformation(middle)
        if last is None or first is None:
            return None
        source = first.args[0]
        if not same_type(type_of.get(source), type_of.get(node.value)):
            return None
        is_padded = value_of.get(last.args[0]) is not middle
        if is_padded and not (isinstance(first.args[2], Null) and isinstance(last.args[2], Null)):
            ctx.remark(node, "missed", f"{node.var.name} stays: it pads with a value")
            return None
        if not is_padded and not _leads_back(first, last, type_of):
            ctx.remark(node, "missed", f"{node.var.name} stays: it is not the inverse of the transformation before it")
            return None
        ctx.remark(node, "applied", f"{node.var.name} is what was transformed before", (first,))
        return replace(node, value=source)

    return ctx.rewrite(function, drop)


def _transformation(value: Expr) -> Call | None:
    match value:
        case Call(op=Op(name="relax.layout_transform")) as call:
            return call
        case _:
            return None


def _without_kernel(expr: Expr, value_of: Mapping[Expr, Expr], removing: frozenset[str]) -> Expr:
    """Return what a kernel that removes padding got, if one made the value."""
    match value_of.get(expr):
        case Call(op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), Tuple(fields=(source,)), *_)) if (
            name in removing
        ):
            return source
        case _:
            return expr


def _leads_back(first: Call, last: Call, type_of: Mapping[Node, Type]) -> bool:
    """Tell whether two mappings in a row give each element its place again."""
    type_ = type_of.get(first.args[0])
    dims = type_.dims if isinstance(type_, TensorType) else None
    maps = _map(first), _map(last)
    if dims is None or maps[0] is None or maps[1] is None:
        return False
    return _is_proven(maps[0], maps[1], dims) or _is_so_for_each(maps[0], maps[1], dims)


def _map(call: Call) -> IndexMap | None:
    match call.args[1]:
        case PrimValue(value=StringImm(value=text)):
            return parse_index_map(text)
        case _:
            return None


def _is_proven(first: IndexMap, last: IndexMap, dims: Dims) -> bool:
    places = tuple(PrimVar(f"i{axis}", "int64") for axis in range(len(dims)))
    found = last.apply(first.apply(places))
    return len(found) == len(places) and all(map(prove_equal, found, places))


def _is_so_for_each(first: IndexMap, last: IndexMap, dims: Dims) -> bool:
    count, shape = 1, [constant_value(dim) for dim in dims]
    sizes = tuple(size for size in shape if isinstance(size, int))
    for size in sizes:
        count *= size
    if len(sizes) < len(shape) or count > _MOST_ELEMENTS:
        return False
    places = places_of(sizes)
    found = last.apply_arrays(first.apply_arrays(places))
    return len(found) == len(places) and all(bool((a == b).all()) for a, b in zip(found, places, strict=True))


PASS = Pass(
    "OptimizeLayoutTransform",
    "Drops transformations of layouts that take each other back.",
    run,
    needs=("normal form",),
    see="tvm/python/tvm/relax/transform/optimize_layout_transform.py",
)
