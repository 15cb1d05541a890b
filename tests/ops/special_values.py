"""Calls of every operator of the table on the values at which two meanings come apart, in every dtype that it takes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from relax_core.ops import OPS
from relax_core.ops.spec import OpSpec, OpTypeError, Value
from tests.narrow import is_array, is_list
from tests.ops.bounds import finfo_of
from tests.ops.cases import LEGALIZED, Array, Builder, Case
from tests.ops.cases_more import MORE

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
# Arguments of operators on elements that have no default.
_BOUNDS: Mapping[str, Value] = MappingProxyType({"min": -1, "max": 3})
_DIVISIONS = ("divide", "floor_divide", "mod", "floor_mod")
_SHIFTS = ("left_shift", "right_shift")


@dataclass(frozen=True)
class Filled:
    """A case of an operator whose tensors hold special values; `words` say which."""

    case: Case
    words: str


def specials(dtype: str) -> Array:
    """Return the special values of a dtype: the ends, the midpoints, what overflows functions, zeros and infinities."""
    if dtype == "bool":
        return np.array([False, True])
    if "int" in dtype:
        limits = np.iinfo(dtype)
        wanted = (limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, limits.max // 2, limits.max - 1, limits.max)
        return np.array([value for value in wanted if limits.min <= value], dtype)
    found = finfo_of(dtype)
    least, tiny, most = float(found.smallest_subnormal), float(found.tiny), float(found.max)
    sizes = (0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 20.25, 11.5, 89.0, 746.0, least, tiny, most, most / 2, np.sqrt(most))
    values = [sign * size for size in sizes for sign in (1, -1)]
    with np.errstate(over="ignore"):
        return np.array([*values, 1e-3, 0.999, float(found.eps), np.inf, -np.inf, np.nan]).astype(np.dtype(dtype))


@cache
def is_on_elements(spec: OpSpec) -> bool:
    """Tell whether each element of the result depends on one element of each operand, given alone or as a pair."""
    tensors = [param for param in spec.params if param.kind == "tensor"]
    is_plain = all(param.kind == "tensor" or _filler(param.name, param.default) is not None for param in spec.params)
    broadcasts = spec.pattern_kind == "broadcast" or len(tensors) == 1
    is_candidate = spec.pattern_kind in ("elementwise", "broadcast") and bool(tensors) and is_plain and broadcasts
    return is_candidate and any(is_typed(on_elements(spec, dtype).case) for dtype in DTYPES)


def _filler(name: str, default: Any) -> Value:
    return _BOUNDS.get(name, default if isinstance(default, int | float) else None)


def on_elements(spec: OpSpec, dtype: str) -> Filled:
    """Return a call on all special values, on all pairs or on all triples of them."""
    values = specials(dtype)
    count = sum(param.kind == "tensor" for param in spec.params)
    if count > 2:
        values = values[:: max(1, len(values) // 12)]
    columns = [values] * count
    if "float" not in dtype and spec.short_name in _DIVISIONS:
        columns[1] = values[values != 0]
    if spec.short_name in _SHIFTS:
        bits = 1 if dtype == "bool" else values.dtype.itemsize * 8
        columns[1] = np.array([k for k in (0, 1, bits // 2, bits - 1) if k < bits], dtype)
    if "int" in dtype and spec.short_name == "power":
        columns[0] = values[values != 0]
    if spec.short_name == "where":
        columns[0] = np.array([False, True])
    tensors = iter([column.reshape([-1 if k == j else 1 for j in range(count)]) for k, column in enumerate(columns)])
    args = tuple(next(tensors) if p.kind == "tensor" else _filler(p.name, p.default) for p in spec.params)
    return Filled(Case(spec.short_name, args, f"in {dtype}"), "all of them")


@cache
def structured() -> Mapping[str, tuple[Case, ...]]:
    """Return for each other operator its cases in the table, those first that have tensors of floats to fill."""
    found: dict[str, list[Case]] = {}
    for case in (*LEGALIZED, *MORE):
        takes_tensors = any(param.kind in ("tensor", "tuple") for param in case.spec.params)
        if takes_tensors and not is_on_elements(case.spec):
            found.setdefault(case.op, []).append(case)
    return {op: tuple(sorted(cases, key=lambda case: not _has_filled(case))) for op, cases in found.items()}


def _has_filled(case: Case) -> bool:
    return any(_is_filled(item) for value in case.args for item in _items(value))


def _items(value: Value) -> Iterator[Value]:
    yield from value if is_list(value) else (value,)


def _is_filled(value: Value) -> bool:
    return is_array(value) and value.dtype == np.float32


def fillings(case: Case, dtype: str) -> Iterator[Filled]:
    """Return calls of one type: with all special values in turn, with one everywhere, with one among tame ones."""
    values = specials(dtype)
    yield _filled(case, "all in turn", lambda shape, seed: np.resize(np.roll(values, -5 * seed), shape))
    tame = values[np.abs(values.astype(np.float64)) < 1000] if "float" in dtype else values
    yield _filled(case, "the small in turn", lambda shape, seed: np.resize(np.roll(tame, -3 * seed), shape))
    for value in values:
        yield _filled(case, f"{value} everywhere", lambda shape, _, value=value: np.full(shape, value, values.dtype))
    for value in values:
        yield _filled(case, f"one {value}", lambda shape, seed, value=value: _with_one(values, shape, seed, value))


def _with_one(values: Array, shape: tuple[int, ...], seed: int, value: Any) -> Array:
    tame = np.array([1, 2, 3, 1, 2]).astype(values.dtype)
    data = np.resize(tame, shape)
    if data.size:
        data.reshape(-1)[(7 * seed + data.size // 2) % data.size] = value
    return data


def _filled(case: Case, words: str, make: Callable[[tuple[int, ...], int], Array]) -> Filled:
    seeds = iter(range(100))

    def change(value: Value) -> Value:
        if is_list(value):
            return [change(item) for item in value]
        return make(value.shape, next(seeds)) if _is_filled(value) else value

    return Filled(replace(case, args=tuple(map(change, case.args))), words)


def is_typed(case: Case) -> bool:
    """Tell whether the type rule of an operator accepts a call."""
    built = Builder(case, is_variable_fill=True)
    try:
        case.spec.infer(built.call, built.types)
    except OpTypeError:
        return False
    return True


ON_ELEMENTS = tuple(spec for spec in OPS.values() if spec.legalize and spec.evaluate and is_on_elements(spec))
