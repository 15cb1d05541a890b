"""Reading the attributes of an operator call: flags, numbers, words and lists of ints that are written out."""

from collections.abc import Sequence

from relax_core.ir.expr import Call, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.prove import prove_different
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ops.operands import call_name, dtype_at, int_at, ints_at, is_absent, literal_at, scalar_at, tensor_at
from relax_core.ops.spec import ArgumentAt, OpTypeError, listed


def flag_at(call: Call, arg_types: tuple[Type, ...], index: int) -> bool:
    """Return the truth value that the argument at `index` is; absent is false."""
    if is_absent(call, index):
        return False
    value = literal_at(call, arg_types, index)
    if isinstance(value, str):
        raise OpTypeError(
            "TY018", (f"{call_name(call)} needs True or False as ", ArgumentAt(index), f", got {value!r}")
        )
    return bool(value)


def float_at(call: Call, arg_types: tuple[Type, ...], index: int) -> float:
    """Return the number that the argument at `index` is."""
    value = literal_at(call, arg_types, index)
    if isinstance(value, str):
        raise OpTypeError("TY018", (f"{call_name(call)} needs a number as ", ArgumentAt(index), f", got {value!r}"))
    return float(value)


def word_at(call: Call, arg_types: tuple[Type, ...], index: int, allowed: tuple[str, ...] = ()) -> str:
    """Return the word that the argument at `index` is; TY018 unless it is one of `allowed`, if these are given."""
    value = literal_at(call, arg_types, index)
    if not isinstance(value, str) or (allowed and value not in allowed):
        words = f"one of {', '.join(allowed)}" if allowed else "a word"
        raise OpTypeError("TY018", (f"{call_name(call)} needs {words} as ", ArgumentAt(index), f", got {value!r}"))
    return value


def spread_at(call: Call, arg_types: tuple[Type, ...], index: int, count: int) -> tuple[int, ...]:
    """Return `count` ints: one that is given stands for all."""
    given = ints_at(call, arg_types, index) or ()
    if len(given) == 1:
        return given * count
    if len(given) != count:
        raise OpTypeError(
            "TY018", (f"{call_name(call)} needs 1 or {count} ints as ", ArgumentAt(index), f", got {given}")
        )
    return given


def padding_at(call: Call, arg_types: tuple[Type, ...], index: int, count: int) -> tuple[tuple[int, int], ...]:
    """Return padding before and after per spatial axis: given as one int, one per axis, or all befores and afters."""
    given = list(ints_at(call, arg_types, index) or ())
    if len(given) == 1:
        return ((given[0], given[0]),) * count
    if len(given) == count:
        return tuple((item, item) for item in given)
    if len(given) == 2 * count:
        return tuple(zip(given[:count], given[count:], strict=True))
    raise OpTypeError("TY018", f"{call_name(call)} needs 1, {count} or {2 * count} ints of padding, got {given}")


def optional_int_at(call: Call, arg_types: tuple[Type, ...], index: int) -> int | None:
    """Return the int that the argument at `index` is, or `None` if it is absent."""
    return None if is_absent(call, index) else int_at(call, arg_types, index)


def out_dtype_at(call: Call, index: int) -> str | None:
    """Return the dtype at `index`; absent, "void" and "" say nothing."""
    found = dtype_at(call, index)
    return None if found in ("", "void") else found


def integer_tensor_at(call: Call, arg_types: tuple[Type, ...], index: int) -> TensorType:
    """Return the type of the argument at `index`, a tensor of integers; TY033 for another dtype."""
    found = tensor_at(call, arg_types, index)
    require_integer(call, found)
    return found


def require_integer(call: Call, tensor: TensorType) -> None:
    """Raise TY033 unless the dtype is an integer or unknown."""
    if tensor.dtype is not None and "int" not in tensor.dtype:
        raise OpTypeError("TY033", (f"{call_name(call)} expects integers here, got ", tensor))


def require_rank(call: Call, tensor: TensorType, rank: int, what: str) -> None:
    """Raise TY013 unless the rank is `rank` or unknown."""
    if tensor.ndim not in (None, rank):
        raise OpTypeError("TY013", (f"{call_name(call)} expects {what} of rank {rank}, got ", tensor))


def scalars_at(call: Call, arg_types: tuple[Type, ...], index: int) -> tuple[PrimExpr | None, ...] | None:
    """Return the scalars in the list that the argument at `index` is; each is `None` if only the run knows it.

    The whole is `None` if the list is absent.
    """
    if is_absent(call, index):
        return None
    match arg_types[index]:
        case TupleType(fields=fields):
            return tuple(item.value if isinstance(item, PrimType) else None for item in fields)
        case ShapeType(values=tuple() as values):
            return values
        case _:
            return (scalar_at(call, arg_types, index),)


def same_sizes(call: Call, pairs: Sequence[tuple[PrimExpr, PrimExpr]], types: Sequence[Type]) -> None:
    """Raise TY037 if two sizes that must agree are provably different."""
    for a, b in pairs:
        if prove_different(a, b):
            raise OpTypeError(
                "TY037",
                (
                    f"{call_name(call)} expects equal sizes, got {show_prim(a)} and {show_prim(b)}: ",
                    *listed(types, " and "),
                ),
            )
