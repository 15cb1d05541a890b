"""Relations between types: what contradicts, what is wider, what symbols stand for, what two branches share."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from relax_core.ir.expr import (
    OBJECT,
    Dims,
    FuncType,
    ObjectType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.integer.prove import prove_different, prove_equal
from relax_core.ir.node import Node, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import map_type, replace_symbols, type_nodes
from relax_core.ops.show import show_type

UNKNOWN = ObjectType()
"""The type of a value that is already reported; compared by identity, and silent to its users."""


def is_unknown(type_: Type) -> bool:
    """Tell whether `type_` is, or holds, the type of a value that is already reported."""
    match type_:
        case TupleType(fields=fields):
            return any(is_unknown(item) for item in fields)
        case _:
            return type_ is UNKNOWN


def contradiction(given: Type, expected: Type) -> str | None:
    """Say why a value of type `given` can never be of type `expected`; `None` if it can.

    Whatever is not known statically is left to the run time.
    """
    if given is expected or given is UNKNOWN or expected is UNKNOWN:
        return None
    match given, expected:
        case PrimType(dtype=a, value=x), PrimType(dtype=b, value=y):
            if a != b:
                return f"the dtype {a} is not {b}"
            return _different_dims((x,), (y,)) if x is not None and y is not None else None
        case PrimType(dtype="string"), ObjectType():
            # As in TVM, where a string is an object.
            return None
        case PrimType(), ObjectType():
            return "a scalar on the host is not an object"
        case (ObjectType(), _) | (_, ObjectType()):
            return None
        case TensorType(), TensorType():
            return _tensor_contradiction(given, expected)
        case ShapeType(values=a, ndim=rank_a), ShapeType(values=b, ndim=rank_b):
            return _different_ranks(rank_a, rank_b) or _different_dims(a, b)
        case TupleType(fields=a), TupleType(fields=b):
            if len(a) != len(b):
                return f"a tuple of {len(a)} fields is not one of {len(b)}"
            return next((words for x, y in zip(a, b, strict=True) if (words := contradiction(x, y))), None)
        case FuncType(), FuncType():
            return _function_contradiction(given, expected)
        case _ if type(given) is type(expected):
            return None
        case _:
            return f"{show_type(given)} is not {show_type(expected)}"


def _tensor_contradiction(given: TensorType, expected: TensorType) -> str | None:
    if given.dtype is not None and expected.dtype is not None and given.dtype != expected.dtype:
        return f"the dtype {given.dtype} is not {expected.dtype}"
    return _different_ranks(given.ndim, expected.ndim) or _different_dims(given.dims, expected.dims)


def _function_contradiction(given: FuncType, expected: FuncType) -> str | None:
    if given.params is not None and expected.params is not None:
        if len(given.params) != len(expected.params):
            return f"a function of {len(given.params)} parameters is not one of {len(expected.params)}"
        for a, b in zip(expected.params, given.params, strict=True):
            words = contradiction(a, b)
            if words:
                return words
    return contradiction(given.ret, expected.ret)


def _different_ranks(a: int | None, b: int | None) -> str | None:
    return f"rank {a} is not {b}" if a is not None and b is not None and a != b else None


def _different_dims(a: "Dims | None", b: "Dims | None") -> str | None:
    if a is None or b is None or len(a) != len(b):
        return None
    for x, y in zip(a, b, strict=True):
        if x is not y and prove_different(x, y):
            return f"{show_prim(x)} is not {show_prim(y)}"
    return None


def is_subtype(given: Type, expected: Type) -> bool:
    """Tell whether every value of type `given` is of type `expected`, as far as that is proven."""
    match given, expected:
        case PrimType(dtype=a, value=x), PrimType(dtype=b, value=y):
            return a == b and (y is None or (x is not None and prove_equal(x, y, wraps=True)))
        case PrimType(), _:
            return False
        case _, ObjectType():
            return True
        case TensorType(), TensorType():
            is_dtype = expected.dtype is None or given.dtype == expected.dtype
            is_rank = expected.ndim is None or given.ndim == expected.ndim
            return is_dtype and is_rank and _covers(given.shape, expected.shape)
        case ShapeType(), ShapeType():
            is_rank = expected.ndim is None or given.ndim == expected.ndim
            return is_rank and _covers(given.values, expected.values)
        case TupleType(fields=a), TupleType(fields=b):
            return len(a) == len(b) and all(is_subtype(x, y) for x, y in zip(a, b, strict=True))
        case FuncType(params=a, ret=ret_a), FuncType(params=b, ret=ret_b):
            if b is not None and (
                a is None or len(a) != len(b) or not all(is_subtype(y, x) for x, y in zip(a, b, strict=True))
            ):
                return False
            return is_subtype(ret_a, ret_b)
        case _:
            return given is expected


def _covers(given: "Dims | Var | None", expected: "Dims | Var | None") -> bool:
    match given, expected:
        case _, None:
            return True
        case tuple(), tuple():
            return len(given) == len(expected) and all(prove_equal(x, y) for x, y in zip(given, expected, strict=True))
        case _:
            return given is expected


def join(a: Type, b: Type) -> Type | None:
    """Return the narrowest type that holds the values of both; `None` if there is none."""
    match a, b:
        case _ if a is UNKNOWN:
            return b
        case _ if b is UNKNOWN or a is b:
            return a
        case TensorType(), TensorType():
            rank = a.ndim if a.ndim == b.ndim else None
            shape = a.shape if _covers(a.shape, b.shape) and b.shape is not None else None
            vdevice = a.vdevice if a.vdevice == b.vdevice else None
            return TensorType(shape, a.dtype if a.dtype == b.dtype else None, rank, vdevice)
        case ShapeType(), ShapeType():
            values = a.values if b.values is not None and _covers(a.values, b.values) else None
            return ShapeType(values, a.ndim if a.ndim == b.ndim else None)
        case PrimType(dtype=x, value=left), PrimType(dtype=y, value=right):
            is_same = left is not None and right is not None and prove_equal(left, right, wraps=True)
            return PrimType(x, left if is_same else None) if x == y else None
        case (PrimType(), _) | (_, PrimType()):
            return None
        case TupleType(fields=x), TupleType(fields=y) if len(x) == len(y):
            return _join_tuples(x, y)
        case FuncType(), FuncType():
            return _join_functions(a, b)
        case _:
            return OBJECT


def _join_tuples(a: tuple[Type, ...], b: tuple[Type, ...]) -> Type | None:
    fields: list[Type] = []
    for x, y in zip(a, b, strict=True):
        joined = join(x, y)
        if joined is None:
            return None
        fields.append(joined)
    return TupleType(tuple(fields))


def _join_functions(a: FuncType, b: FuncType) -> Type:
    if is_subtype(a, b):
        return replace(b, is_pure=a.is_pure and b.is_pure)
    if is_subtype(b, a):
        return replace(a, is_pure=a.is_pure and b.is_pure)
    return FuncType(None, join(a.ret, b.ret) or OBJECT, a.is_pure and b.is_pure)


@dataclass(slots=True)
class Solution:
    """What the symbols of a callee stand for, and where each got its value."""

    values: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])
    sources: dict[PrimVar, str] = field(default_factory=dict[PrimVar, str])
    shapes: dict[Var, Dims] = field(default_factory=dict[Var, Dims])

    def apply(self, type_: Type) -> Type:
        """Return `type_` with symbols replaced by their values."""

        def change_var(var: Var) -> "Var | tuple[PrimExpr, ...]":
            return self.shapes.get(var, var)

        if not self.values and not self.shapes:
            return type_
        return map_type(type_, lambda expr: replace_symbols(expr, self.values), change_var)

    def explain(self, type_: Type) -> str:
        """Say for the symbols of `type_` which value they have and which argument gave it."""
        parts = [
            f"{symbol.name} is {show_prim(self.values[symbol])} from {self.sources[symbol]}"
            for symbol in dict.fromkeys(symbols_of(type_))
            if symbol in self.values
        ]
        return ", ".join(parts)


def symbols_of(type_: Type) -> tuple[PrimVar, ...]:
    """Return the symbols that occur in `type_`."""
    return tuple(
        part for root in type_nodes(type_) if isinstance(root, PrimExpr) for part in preorder(root)
        if isinstance(part, PrimVar)
    )  # fmt: skip


def bind_symbols(expected: Type, given: Type, source: str, solution: Solution, fixed: "set[PrimVar]") -> None:
    """Bind the symbols that are a whole dimension of `expected` to those of `given`; the first value stays.

    Symbols in `fixed` belong to the surroundings and are not bound. `source` names the argument.
    """
    for symbol, value in _pairs(expected, given):
        if isinstance(symbol, PrimVar) and symbol not in fixed and symbol not in solution.values:
            solution.values[symbol] = value
            solution.sources[symbol] = source


def _pairs(expected: Type, given: Type) -> list[tuple[PrimExpr, PrimExpr]]:
    match expected, given:
        case TensorType(shape=tuple() as a), TensorType(shape=tuple() as b):
            return list(zip(a, b, strict=False)) if len(a) == len(b) else []
        case ShapeType(values=tuple() as a), ShapeType(values=tuple() as b):
            return list(zip(a, b, strict=False)) if len(a) == len(b) else []
        case PrimType(value=PrimExpr() as a), PrimType(value=PrimExpr() as b):
            return [(a, b)]
        case TupleType(fields=a), TupleType(fields=b):
            return [pair for x, y in zip(a, b, strict=False) for pair in _pairs(x, y)]
        case _:
            return []


def solve(
    expected: Sequence[Type], given: Sequence[Type], names: Callable[[int], str], fixed: "set[PrimVar]"
) -> tuple[Solution, tuple[tuple[int, str], ...]]:
    """Bind symbols from all arguments; return them with the places and words of each contradiction.

    `names` gives the words for an argument. They are asked for only if there is a contradiction to explain, because to
    print the types of all arguments takes longer than to compare them.
    """
    solution = Solution()
    for a, b in zip(expected, given, strict=True):
        bind_symbols(a, b, "", solution, fixed)
    found = ((k, contradiction(b, solution.apply(a))) for k, (a, b) in enumerate(zip(expected, given, strict=True)))
    wrong = [(k, words) for k, words in found if words]
    if not wrong:
        return solution, ()
    named = Solution()
    for k, (a, b) in enumerate(zip(expected, given, strict=True)):
        bind_symbols(a, b, names(k), named, fixed)
    return named, tuple((k, _explained(words, given[k], expected[k], named)) for k, words in wrong)


def _explained(words: str, given: Type, expected: Type, solution: Solution) -> str:
    # Values of symbols explain nothing if the types contradict without them.
    why = "" if contradiction(given, expected) else solution.explain(expected)
    return f"{words} ({why})" if why else words


def erase(type_: Type, symbols: Container[Node], variables: Container[Node]) -> Type:
    """Return `type_` without shapes that mention a symbol or a shape variable that is not visible."""
    if all(
        part in variables if isinstance(part, Var) else all(
            not isinstance(item, PrimVar) or item in symbols for item in preorder(part)
        )
        for part in type_nodes(type_)
    ):  # fmt: skip
        return type_
    match type_:
        case TensorType(dtype=dtype, ndim=ndim):
            return TensorType(None, dtype, ndim)
        case ShapeType(ndim=ndim):
            return ShapeType(None, ndim)
        case PrimType(dtype=dtype):
            return PrimType(dtype)
        case TupleType(fields=fields):
            return TupleType(tuple(erase(item, symbols, variables) for item in fields))
        case _:
            return type_
