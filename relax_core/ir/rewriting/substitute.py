"""Types inside nodes: what occurs in them, and substitution that reaches into them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar, cast

from relax_core.ir.expr import (
    AdtType,
    Call,
    Expr,
    Function,
    FuncType,
    MatchCast,
    ObjectType,
    PrimType,
    RefType,
    ShapeExpr,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.expr import (
    TypeVar as RelayTypeVar,
)
from relax_core.ir.integer.interval import dtype_interval
from relax_core.ir.integer.prove import simplify
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar
from relax_core.ir.relay import Let, PatternVar

N = TypeVar("N", bound=Node)
ChangePrim: TypeAlias = Callable[[PrimExpr], PrimExpr]
ChangeVar: TypeAlias = Callable[[Var], "Var | tuple[PrimExpr, ...]"]


def type_nodes(type_: Type | None) -> Iterator[PrimExpr | Var]:
    """Yield the scalar expressions and the shape variables in `type_`, in the order of the text."""
    match type_:
        case TensorType(shape=Var() as shape):
            yield shape
        case TensorType(shape=tuple() as dims):
            yield from dims
        case ShapeType(values=tuple() as dims):
            yield from dims
        case PrimType(value=PrimExpr() as value):
            yield value
        case TupleType(fields=fields):
            for item in fields:
                yield from type_nodes(item)
        case FuncType(params=params, ret=ret):
            for item in (*(params or ()), ret):
                yield from type_nodes(item)
        case AdtType(args=args):
            for item in args:
                yield from type_nodes(item)
        case RefType(value=value):
            yield from type_nodes(value)
        case _:
            return


def map_type(type_: Type, change_prim: ChangePrim, change_var: ChangeVar = lambda var: var) -> Type:
    """Return `type_` with its scalar expressions and shape variables changed; the same object if nothing did."""

    def again(item: Type) -> Type:
        return map_type(item, change_prim, change_var)

    match type_:
        case TensorType(shape=Var() as shape):
            changed = change_var(shape)
            return type_ if changed is shape else replace(type_, shape=changed, ndim=_rank(changed, type_.ndim))
        case TensorType(shape=tuple() as dims):
            new = _map_tuple(dims, change_prim)
            return type_ if new is dims else replace(type_, shape=new)
        case ShapeType(values=tuple() as dims):
            new = _map_tuple(dims, change_prim)
            return type_ if new is dims else replace(type_, values=new)
        case PrimType(value=PrimExpr() as value):
            new_value = change_prim(value)
            return type_ if new_value is value else replace(type_, value=new_value)
        case TupleType(fields=fields):
            new_fields = _map_tuple(fields, again)
            return type_ if new_fields is fields else replace(type_, fields=new_fields)
        case FuncType(params=params, ret=ret):
            new_params = None if params is None else _map_tuple(params, again)
            new_ret = again(ret)
            is_same = new_params is params and new_ret is ret
            return type_ if is_same else replace(type_, params=new_params, ret=new_ret)
        case AdtType(args=args):
            new_args = _map_tuple(args, again)
            return type_ if new_args is args else replace(type_, args=new_args)
        case RefType(value=inner):
            new_inner = again(inner)
            return type_ if new_inner is inner else replace(type_, value=new_inner)
        case TensorType() | ShapeType() | PrimType() | ObjectType() | RelayTypeVar():
            return type_


def _rank(shape: "Var | tuple[PrimExpr, ...]", ndim: int | None) -> int | None:
    return len(shape) if isinstance(shape, tuple) else ndim


T = TypeVar("T")


def _map_tuple(items: tuple[T, ...], change: Callable[[T], T]) -> tuple[T, ...]:
    new = tuple(change(item) for item in items)
    return items if all(a is b for a, b in zip(items, new, strict=True)) else new


def types_in(node: Node) -> tuple[Type, ...]:
    """Return the types that `node` itself carries: annotations, declared results, casts."""
    match node:
        case Var(annotation=annotation) if annotation is not None:
            return (annotation,)
        case Call(type_args=type_args):
            return type_args
        case Function(ret_type=ret) if ret is not None:
            return (ret,)
        case MatchCast(type=type_):
            return (type_,)
        case _:
            return ()


def with_types(node: N, change: Callable[[Type], Type]) -> N:
    """Return `node` with `change` applied to each type that it carries; the same object if nothing changed."""
    match node:
        case Var(annotation=annotation) if annotation is not None:
            new = change(annotation)
            result: Node = node if new is annotation else replace(node, annotation=new)
        case Call(type_args=type_args) if type_args:
            new_args = _map_tuple(type_args, change)
            result = node if new_args is type_args else replace(node, type_args=new_args)
        case Function(ret_type=ret) if ret is not None:
            new = change(ret)
            result = node if new is ret else replace(node, ret_type=new)
        case MatchCast(type=type_):
            new = change(type_)
            result = node if new is type_ else replace(node, type=new)
        case _:
            result = node
    return cast("N", result)


def substitute(
    root: N,
    vars: Mapping[Var, Expr] | None = None,
    symbols: Mapping[PrimVar, PrimExpr] | None = None,
    settle: Callable[[PrimExpr], PrimExpr] | None = None,
) -> N:
    """Return `root` with variables and symbolic dimensions replaced, inside types as well.

    A variable whose annotation changes becomes one new variable at all its occurrences. A shape variable in a type
    is replaced only by a variable or by a `ShapeExpr`, whose dimensions take its place. Scalar expressions in which
    dimensions were replaced are folded as `replace_symbols` does; `settle` is asked what becomes of dimensions then.
    """
    by_var, by_symbol = dict(vars or {}), dict(symbols or {})
    if not by_var and not by_symbol:
        return root
    memo: dict[Node, Node] = {}

    def change_prim(expr: PrimExpr) -> PrimExpr:
        return settled(expr, replace_symbols(expr, by_symbol)) if by_symbol else expr

    def settled(old: PrimExpr, new: PrimExpr) -> PrimExpr:
        return new if new is old or settle is None else settle(new)

    def change_var(var: Var) -> "Var | tuple[PrimExpr, ...]":
        new = by_var.get(var, memo.get(var, var))
        match new:
            case Var():
                return new
            case ShapeExpr(values=values):
                return values
            case _:
                return var

    for current in postorder(root):
        if isinstance(current, Var) and current in by_var:
            memo[current] = by_var[current]
        elif isinstance(current, PrimVar):
            memo[current] = by_symbol.get(current, current)
        else:
            rebuilt = map_children(current, memo.__getitem__)
            if by_symbol and rebuilt is not current:
                rebuilt = _folded(current, rebuilt)
            if isinstance(current, ShapeExpr) and isinstance(rebuilt, ShapeExpr) and rebuilt is not current:
                rebuilt = replace(rebuilt, values=tuple(map(settled, current.values, rebuilt.values)))
            memo[current] = with_types(rebuilt, lambda type_: map_type(type_, change_prim, change_var))
    return cast("N", memo[root])


def free_symbols(item: Node | Type | None) -> tuple[PrimVar, ...]:
    """Return the scalar variables that occur in a type, or in a node and its types, in order of first occurrence."""
    found: dict[PrimVar, None] = {}
    roots: Iterator[Node]
    if isinstance(item, Node):
        roots = _with_type_nodes(item)
    else:
        roots = (part for root in type_nodes(item) for part in preorder(root))
    for part in roots:
        if isinstance(part, PrimVar):
            found[part] = None
    return tuple(found)


def _with_type_nodes(root: Node) -> Iterator[Node]:
    for current in preorder(root):
        yield current
        for type_ in types_in(current):
            for item in type_nodes(type_):
                yield from preorder(item)


def free_vars(expr: Node) -> tuple[Var, ...]:
    """Return the variables that occur free in `expr`, Relax or Relay, types included, in order of first use."""
    bound: set[Var] = set()
    used: dict[Var, None] = {}
    for current in _with_type_nodes(expr):
        match current:
            case Function(params=params):
                bound.update(params)
            case VarBinding(var=var) | MatchCast(var=var) | Let(var=var) | PatternVar(var=var):
                bound.add(var)
            case Var():
                used[current] = None
            case _:
                pass
    return tuple(var for var in used if var not in bound)


def replace_symbols(expr: PrimExpr, symbols: Mapping[PrimVar, PrimExpr]) -> PrimExpr:
    """Return `expr` with the variables in `symbols` replaced.

    Integer constants fold, and a number that comes to stand in front of a sum or a product goes behind, as in TVM.
    """
    if isinstance(expr, IntImm):
        return expr
    if isinstance(expr, PrimVar):
        return symbols.get(expr, expr)
    memo: dict[Node, Node] = {}
    for current in postorder(expr):
        rebuilt = map_children(current, memo.__getitem__)
        known = symbols.get(rebuilt) if isinstance(rebuilt, PrimVar) else None
        memo[current] = _folded(current, rebuilt) if known is None else known
    result = memo[expr]
    assert isinstance(result, PrimExpr), "a scalar expression stays one"
    return result


def _folded(old: Node, rebuilt: Node) -> Node:
    """Return a scalar expression in which variables were replaced, with numbers folded or at the back."""
    match rebuilt:
        case Binary(op=op, a=IntImm(), b=IntImm()) if op not in ("/", "//", "%"):
            folded = simplify(rebuilt)
            # A sum that wraps around is left to whoever computes it.
            return _with_span(folded, old) if _fits(folded) else rebuilt
        case Binary(op="*" | "+", a=IntImm() as number, b=other) if number not in old.PARTS(old):
            return replace(rebuilt, a=other, b=number)
        case _:
            return rebuilt


def _fits(expr: PrimExpr) -> bool:
    """Tell whether a literal is a number of its dtype."""
    return not isinstance(expr, IntImm) or expr.value in dtype_interval(expr.dtype)


def _with_span(new: PrimExpr, old: Node) -> PrimExpr:
    return replace(new, span=old.span) if new.span is None and old.span is not None else new
