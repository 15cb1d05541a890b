"""The type of a call of a Relay operator, read off the expression of Relax that computes the call.

An unknown size stands as a variable of its own, and what is computed from it is unknown again. Where an argument has no
known rank, several are tried, and the type is what all of them agree on. A translation must not take longer for larger
sizes, since a type is asked of any text: an operator whose translation makes a constant of each place, or an operation
for each step, has a relation of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

from relax_core.ir.absent import has_data
from relax_core.ir.expr import (
    OBJECT,
    Call,
    Constant,
    Expr,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import AnyDim, IntImm, PrimVar, const, dtype_of
from relax_core.ops import OPS
from relax_core.ops.relay.dims import known_size
from relax_core.ops.relay.show import show_type
from relax_core.ops.relay.spec import Check, Relation, RelayCall, Rule
from relax_core.ops.relay.translation import UntranslatedError, untranslated
from relax_core.ops.spec import OpTypeError

_RANKS = range(7)
"""What is tried for an unknown rank."""
_WRONG_DTYPE = "TY033"
_CODES = MappingProxyType({"TY010": "RY008", "TY018": "RY010"})
"""The codes of Relay for those of Relax; RY009 for all others."""
_HINT = "convert the argument with cast(%x, dtype=...)"


class _RefusedError(Exception):
    """An operator of Relax refuses its arguments, in the words of Relax."""

    def __init__(self, node: Expr, error: OpTypeError) -> None:
        super().__init__(error.message)
        self.node = node
        self.error = error


def derived(rule: Rule, check: Check | None = None) -> Relation:
    """Return the relation of an operator that `rule` translates; `check` refuses what the translation does not see."""

    def relation(call: RelayCall) -> Type:
        if check is not None:
            check(call)
        return _derived(call, rule)

    return relation


def derived_product(rule: Rule, check: Check | None = None) -> Relation:
    """Return the relation of a sum of products, whose operands may differ in dtype.

    The result has the dtype `out_dtype`, or that of the first argument.
    """
    infer = derived(rule, check)

    def relation(call: RelayCall) -> Type:
        dtype = call.dtype("out_dtype") or call.tensor().dtype
        return infer(call if dtype is None else replace(call, attrs={**call.attrs, "out_dtype": dtype}))

    return relation


def _derived(call: RelayCall, rule: Rule) -> Type:
    """Return the type of a call; unknown if Relax cannot express the call.

    Raises:
        OpTypeError: RY008, RY009 or RY010 if the arguments and attributes do not fit.
    """
    try:
        if any(_holds(type_, _has_unknown_rank) for type_ in call.args):
            return _at_any_rank(call, rule)
        if not any(_holds(type_, _has_unknown_size) for type_ in call.args):
            return _type_at(call, rule)
        return _type_at(_with(call, _sized), rule)
    except UntranslatedError:
        return OBJECT


def _at_any_rank(call: RelayCall, rule: Rule) -> Type:
    """Return what the types have in common that the call has at each rank where it has one."""
    found: list[Type] = []
    error: OpTypeError | None = None
    for rank in _RANKS:
        try:
            found.append(_derived(_with(call, _ranked(rank)), rule))
        except OpTypeError as refused:
            error = refused
    if found:
        return reduce(_common, found)
    # Several arguments of unknown rank may need different ones.
    unknown = [type_ for type_ in call.args if _holds(type_, _has_unknown_rank)]
    if error is None or len(unknown) > 1:
        raise untranslated(call, "no rank is known")
    raise error


def _with(call: RelayCall, change: Callable[[TensorType], TensorType]) -> RelayCall:
    """Return the call with tensors of other types."""

    def changed(type_: Type) -> Type:
        match type_:
            case TensorType():
                return change(type_)
            case TupleType(fields=fields):
                return TupleType(tuple(map(changed, fields)))
            case _:
                return type_

    return replace(call, args=tuple(map(changed, call.args)))


def _ranked(rank: int) -> Callable[[TensorType], TensorType]:
    """Return how a tensor of unknown rank gets one."""
    dims = tuple(AnyDim() for _ in range(rank))
    return lambda tensor: tensor if tensor.dims is not None else TensorType(dims, tensor.dtype)


def _sized(tensor: TensorType) -> TensorType:
    """Return a tensor whose unknown sizes are variables."""
    if not _has_unknown_size(tensor):
        return tensor
    dims = (PrimVar("?", "int64") if isinstance(dim, AnyDim) else dim for dim in tensor.dims or ())
    return TensorType(tuple(dims), tensor.dtype)


def _has_unknown_rank(tensor: TensorType) -> bool:
    return tensor.dims is None


def _has_unknown_size(tensor: TensorType) -> bool:
    return any(isinstance(dim, AnyDim) for dim in tensor.dims or ())


def _holds(type_: Type, is_so: Callable[[TensorType], bool]) -> bool:
    """Tell whether `type_` is a tensor, or has a field, of which `is_so` is true."""
    match type_:
        case TensorType():
            return is_so(type_)
        case TupleType(fields=fields):
            return any(_holds(field, is_so) for field in fields)
        case _:
            return False


def _common(a: Type, b: Type) -> Type:
    """Return a type that says what both say."""
    match a, b:
        case TensorType(dims=x, dtype=p), TensorType(dims=y, dtype=q):
            dims = None
            if x is not None and y is not None and len(x) == len(y):
                dims = tuple(
                    i if known_size(i) is not None and known_size(i) == known_size(j) else AnyDim()
                    for i, j in zip(x, y, strict=True)
                )
            return TensorType(dims, p if p == q else None)
        case TupleType(fields=x), TupleType(fields=y) if len(x) == len(y):
            return TupleType(tuple(map(_common, x, y)))
        case _:
            return OBJECT


def wrong_dtype(call: RelayCall, made: Expr) -> OpTypeError | None:
    """Return why Relax refuses the dtype of what it makes of a call; `None` if it does not, or if nothing is known."""
    try:
        _typed(made, dict(zip(call.exprs, call.args, strict=True)))
    except _RefusedError as refused:
        if refused.error.code == _WRONG_DTYPE:
            return call.refuse(f"cannot be expressed in Relax: {refused.error.message}", _HINT)
    return None


def _type_at(call: RelayCall, rule: Rule) -> Type:
    """Return the type of what `rule` makes of a call, all of whose sizes are numbers or variables."""
    known: dict[Node, Type] = {}
    given: tuple[Expr | None, ...] = call.exprs or (None,) * len(call.args)
    exprs = tuple(_stand_in(expr, type_, known) for expr, type_ in zip(given, call.args, strict=True))
    made = rule(replace(call, exprs=exprs))
    try:
        _typed(made, known)
    except _RefusedError as refused:
        raise _in_relay_words(call, refused) from refused.error
    return _closed(known[made])


def _typed(made: Expr, known: dict[Node, Type]) -> None:
    """Add the types of the parts of an expression to `known`.

    Raises:
        _RefusedError: an operator of Relax refuses its arguments.
    """
    for node in postorder(made):
        if node not in known and isinstance(node, Expr):
            try:
                known[node] = _type_of(node, known)
            except OpTypeError as error:
                raise _RefusedError(node, error) from error


def _stand_in(expr: Expr | None, type_: Type, known: dict[Node, Type]) -> Expr:
    """Return what a rule gets for an argument: a literal itself, a tuple of variables, or a variable."""
    match type_:
        case _ if isinstance(expr, Constant) and has_data(expr):
            made = expr
        case TupleType(fields=fields):
            made = Tuple(tuple(_stand_in(None, field, known) for field in fields))
        case _:
            made = Var("x")
    known[made] = type_
    return made


def _type_of(expr: Expr, known: Mapping[Node, Type]) -> Type:
    match expr:
        case Call(op=Op(name=name), args=args):
            return OPS[name].infer(expr, tuple([known[arg] for arg in args]))
        case Tuple(fields=fields):
            return TupleType(tuple([known[field] for field in fields]))
        case TupleGetItem(tuple_value=value, index=index) if isinstance(whole := known[value], TupleType):
            return whole.fields[index]
        case Constant(data=data):
            return TensorType(tuple(const(extent) for extent in data.shape), str(data.dtype))
        case PrimValue(value=value):
            return PrimType(dtype_of(value), value)
        case ShapeExpr(values=values):
            return ShapeType(values)
        case _:
            return OBJECT


def _closed(type_: Type) -> Type:
    """Return a type whose sizes are numbers or unknown."""
    match type_:
        case TensorType(dims=None, ndim=int() as ndim, dtype=dtype):
            return TensorType(tuple(AnyDim() for _ in range(ndim)), dtype)
        case TensorType(dims=tuple() as dims, dtype=dtype):
            numbers = tuple([known_size(dim) for dim in dims])
            return TensorType(tuple([AnyDim() if item is None else IntImm(item) for item in numbers]), dtype)
        case TupleType(fields=fields):
            return TupleType(tuple(map(_closed, fields)))
        case _:
            return type_


def _in_relay_words(call: RelayCall, refused: "_RefusedError") -> OpTypeError:
    """Return why a call has no type, as its operator's mistake and not that of one it is composed of."""
    node, error = refused.node, refused.error
    if error.code == _WRONG_DTYPE:
        return untranslated(call, error.message)
    name = node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""
    params = OPS[name].params if name else ()
    words = error.written(show_type, lambda index: f"`{params[index].name}`")
    return call.refuse(words.removeprefix(f"{name.removeprefix('relax.')} "), code=_CODES.get(error.code, "RY009"))
