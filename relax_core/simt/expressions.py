"""Expressions of TIR in all lanes at once."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimVar,
    Select,
    StringImm,
    Unary,
    dtype_of,
    scalar_of,
)
from relax_core.ir.tir import BufferLoad
from relax_core.ops.kernels.numbers import (
    BINARY,
    FUNCTIONS,
    UNARY,
    Plain,
    cast,
    is_array,
    numpy_type,
    of_dtype,
    select,
)
from relax_core.simt.accesses import Accesses
from relax_core.simt.findings import text_of
from relax_core.simt.lanes import Array, Mask
from relax_core.simt.state import State, unsupported
from relax_core.simt.units.atomics import ATOMICS, rounds
from relax_core.simt.values import Partly, Value, apply, data_of, undefined_in, with_undefined
from relax_core.simt.warps import SHUFFLES, active_mask, shuffled, source_lanes

EXTERNAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{f"{name}f": name for name in FUNCTIONS},
        **{f"h{name}": name for name in ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor", "ceil",
                                         "trunc", "log2", "log10", "exp2")},
        **{f"__{name}f": name for name in ("exp", "log", "sin", "cos", "tan", "pow", "log2", "log10")},
        "herf": "erf", "hrint": "nearbyint", "rintf": "nearbyint", "fabsf": "abs", "fmodf": "fmod",
        "__popc": "popcount", "__popcll": "popcount",
    }
)  # fmt: skip
"""What functions of CUDA compute, by the names of TIR's intrinsics."""
_ACTIVE: Final = ("tvm_warp_activemask", "cuda.__activemask")


class Expressions:
    """Evaluates expressions in the lanes of a state; what depends on the numbers of threads alone is kept."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.accesses = Accesses(state)
        self.fixed: set[PrimVar] = set()
        """Variables that never change in the lanes: numbers of threads, and what is computed from them."""
        self._is_fixed: dict[PrimExpr, bool] = {}
        self._kept: dict[PrimExpr, Value] = {}
        self._rules: dict[type[PrimExpr], Callable[[Any, Mask], Value]] = {
            IntImm: _number, FloatImm: _real, PrimVar: self._variable, Binary: self._binary, Unary: self._unary,
            Cast: self._cast, Select: self._select, LetExpr: self._let, BufferLoad: self._load,
            Intrinsic: self._intrinsic,
        }  # fmt: skip

    def evaluate(self, node: PrimExpr, mask: Mask) -> Value:
        """Return what `node` is in the lanes of `mask`.

        Raises:
            RunError: GP010 for what is not simulated.
        """
        rule = self._rules.get(type(node))
        if rule is not None:
            return rule(node, mask)
        return self._variable(node, mask) if isinstance(node, PrimVar) else unsupported(node)

    def condition(self, node: PrimExpr, mask: Mask) -> Plain:
        """Return a condition that decides what runs; lanes in which it is undefined are told, and it is false there."""
        found = self.evaluate(node, mask)
        if type(found) is not Partly:
            return found
        lanes = found.undefined & self.state.lanes.full(mask)
        if lanes.any():
            self.state.launch.findings.add(
                "GP006", f"`{text_of(node)}` decides what runs, and is undefined", node,
                self.state.lanes.thread[lanes],
            )  # fmt: skip
        return np.logical_and(found.data, ~found.undefined)

    def is_fixed(self, node: PrimExpr) -> bool:
        """Tell whether `node` depends on the numbers of threads alone."""
        known = self._is_fixed.get(node)
        if known is None:
            match node:
                case IntImm():
                    known = True
                case PrimVar():
                    return node in self.fixed
                case Binary(a=a, b=b):
                    known = self.is_fixed(a) and self.is_fixed(b)
                case Intrinsic(name="Ramp", args=args):
                    known = all(map(self.is_fixed, args))
                case _:
                    known = False
            self._is_fixed[node] = known
        return known

    def narrowed(self, mask: Mask, condition: Plain) -> tuple[Array, Array]:
        """Return the lanes of `mask` in which a condition holds, and those in which it does not."""
        full = self.state.lanes.full(mask)
        return full & condition, full & np.logical_not(condition)

    def _variable(self, node: PrimVar, _: Mask) -> Value:
        found = self.state.variables.get(node)
        return unsupported(node, f"the variable `{node.name}`, which has no value here,") if found is None else found

    def _binary(self, node: Binary, mask: Mask) -> Value:
        kept = self._kept.get(node)
        if kept is not None:
            return kept
        a, b = self.evaluate(node.a, mask), self.evaluate(node.b, mask)
        function = _computing(BINARY[node.op], scalar_of(node.dtype))
        found = function(a, b) if type(a) is not Partly and type(b) is not Partly else apply(function, a, b)
        if self.is_fixed(node):
            self._kept[node] = found
        return found

    def _unary(self, node: Unary, mask: Mask) -> Value:
        value = self.evaluate(node.a, mask)
        if node.op == "~" and node.dtype == "bool":
            return apply(UNARY["not"], value)
        return apply(_computing(UNARY[node.op], scalar_of(node.dtype)), value)

    def _cast(self, node: Cast, mask: Mask) -> Value:
        dtype = scalar_of(node.dtype)
        return apply(partial(cast, dtype=dtype), self.evaluate(node.value, mask))

    def _select(self, node: Select, mask: Mask) -> Value:
        condition = self.evaluate(node.condition, mask)
        plain = data_of(condition)
        if not is_array(plain):
            return self.evaluate(node.true_value if plain else node.false_value, mask)
        chosen, other = self.narrowed(mask, plain) if plain.ndim == 1 else (mask, mask)
        return self.chosen(
            condition, self.evaluate(node.true_value, chosen), self.evaluate(node.false_value, other), mask
        )

    def chosen(self, condition: Value, yes: Value, no: Value, mask: Mask) -> Value:
        """Return one of two values in each lane; what is not chosen may be undefined."""
        plain, full = data_of(condition), self.state.lanes.full(mask)
        undefined = undefined_in(condition)
        for item, lanes in ((yes, plain), (no, np.logical_not(plain))):
            if type(item) is Partly:
                here = item.undefined & (full & lanes if np.ndim(plain) < 2 else full)
                undefined = here if undefined is None else undefined | here
        return with_undefined(select(plain, data_of(yes), data_of(no)), undefined)

    def _let(self, node: LetExpr, mask: Mask) -> Value:
        self.state.variables[node.var] = self.evaluate(node.value, mask)
        return self.evaluate(node.body, mask)

    def _load(self, node: BufferLoad, mask: Mask) -> Value:
        indices = tuple([self.evaluate(item, mask) for item in node.indices])
        return self.accesses.load(node.buffer, indices, node, mask)

    def _intrinsic(self, node: Intrinsic, mask: Mask) -> Value:
        match node.name, node.args:
            case "Ramp", _ if node in self._kept:
                return self._kept[node]
            case "Ramp", (base, stride, count):
                first, step = (self.evaluate(item, mask) for item in (base, stride))
                numbers = np.arange(int(data_of(self.evaluate(count, mask))))
                found = apply(partial(_ramp, numbers=numbers), first, step)
                if self.is_fixed(node):
                    self._kept[node] = found
                return found
            case "Broadcast", (value, count):
                width = int(data_of(self.evaluate(count, mask)))
                dtype = numpy_type(scalar_of(node.dtype))
                return apply(partial(_repeated, width=width, dtype=dtype), self.evaluate(value, mask))
            case (("call_pure_extern" | "call_extern"), (StringImm(), StringImm(value=name), *args)):
                return self._function(node, EXTERNAL.get(name, name), tuple(args), mask)
            case (("call_pure_extern" | "call_extern"), (StringImm(value=name), *args)):
                return self._function(node, EXTERNAL.get(name, name), tuple(args), mask)
            case "reinterpret", (*_, value):
                kind, own = numpy_type(scalar_of(node.dtype)), numpy_type(scalar_of(dtype_of(value)))
                return apply(partial(_reinterpreted, own=own, kind=kind), self.evaluate(value, mask))
            case name, _ if name in _ACTIVE:
                return active_mask(mask, self.state.lanes)
            case name, (Intrinsic(name="address_of", args=(BufferLoad() as cell,)), *operands) if name in ATOMICS:
                return self._atomic(node, cell, [self.evaluate(item, mask) for item in operands], mask)
            case name, (named, value, amount, *rest) if name in SHUFFLES:
                width = data_of(self.evaluate(rest[0], mask)) if rest else 32
                return self._shuffle(node, (named, value, amount), width, mask)
            case name, args:
                return self._function(node, name, args, mask)

    def _function(self, node: Intrinsic, name: str, args: tuple[PrimExpr, ...], mask: Mask) -> Value:
        function = FUNCTIONS.get(name)
        if function is None or any(isinstance(item, StringImm) for item in args):
            unsupported(node)
        computed = function if node.dtype == "handle" else _computing(function, scalar_of(node.dtype))
        return apply(computed, *(self.evaluate(item, mask) for item in args))

    def _atomic(self, node: Intrinsic, cell: BufferLoad, operands: list[Value], mask: Mask) -> Value:
        """Change a cell, and return what each lane found there: lanes that meet in one come one after the other."""
        lanes = self.state.lanes.full(mask)
        indices = tuple(self.evaluate(item, mask) for item in cell.indices)
        places = [data_of(item) for item in indices]
        if any(np.ndim(item) > 1 for item in places):
            unsupported(node, "an atomic operation on a vector")
        dtype = scalar_of(cell.buffer.dtype)
        change = _computing(ATOMICS[node.name], dtype)
        found, lost = np.zeros(len(lanes), numpy_type(dtype)), np.zeros(len(lanes), np.bool_)
        for taken in rounds(places, lanes):
            old = self.accesses.load(cell.buffer, indices, node, taken, is_atomic=True)
            self.accesses.store(cell.buffer, indices, apply(change, old, *operands), node, taken, is_atomic=True)
            found[taken] = np.broadcast_to(data_of(old), found.shape)[taken]
            if (undefined := undefined_in(old)) is not None:
                lost[taken] = undefined[taken]
        return with_undefined(found, lost)

    def _shuffle(self, node: Intrinsic, args: tuple[PrimExpr, PrimExpr, PrimExpr], width: Plain, mask: Mask) -> Value:
        named, value, amount = (self.evaluate(item, mask) for item in args)
        lanes = self.state.lanes
        source = source_lanes(SHUFFLES[node.name], data_of(amount), width, lanes)
        found, lost = shuffled(value, source, mask, named, lanes)
        if lost.any():
            lane = int(np.flatnonzero(lost)[0])
            message = (
                f"`{text_of(node)}` reads a lane that does not take part: {lanes.grid.place(int(lanes.thread[lane]))} "
                f"reads lane {int(source[lane] - lane + lanes.inside[lane]) % 32} of its warp"
            )
            self.state.launch.findings.add("GP008", message, node, lanes.thread[lost])
        return found


def _computing(function: Callable[..., Plain], dtype: str) -> Callable[..., Plain]:
    """Return a function whose results are those of registers of a dtype."""

    def compute(*values: Plain) -> Plain:
        return of_dtype(function(*values), dtype)

    return compute


def _number(node: IntImm, _: Mask) -> Value:
    return bool(node.value) if node.dtype == "bool" else node.value


def _real(node: FloatImm, _: Mask) -> Value:
    return numpy_type(scalar_of(node.dtype)).type(node.value)


def _columns(value: Plain) -> Plain:
    """Return what gives one row for each lane beside an array of columns."""
    return value[:, None] if is_array(value) else np.asarray([[value]])


def _ramp(start: Plain, step: Plain, numbers: Array) -> Plain:
    return _columns(start) + _columns(step) * numbers


def _reinterpreted(value: Plain, own: "np.dtype[Any]", kind: "np.dtype[Any]") -> Plain:
    return np.asarray(value, own).view(kind)[()]


def _repeated(value: Plain, width: int, dtype: "np.dtype[Any]") -> Plain:
    if not is_array(value):
        return np.full((1, width), value, dtype)
    return np.broadcast_to(value[:, None] if value.ndim == 1 else value, (len(value), width))
