"""The bounds check of a gather: one for all indices of some vectors, before any of them is used."""

from collections.abc import Sequence

from relax_core.ir.tir import BufferLoad
from relax_core.jit.lowering.scalar import integer_literal
from relax_core.jit.lowering.state import State
from relax_core.jit.lowering.types import SCALAR_TYPES, ScalarType
from relax_core.jit.transforms.gather_values import VectorEmitter
from relax_core.jit.transforms.vector_code import splat, vector_type

# Processors test as many bits at once without leaving their vectors' registers.
TESTED_BITS = 256
_WORD = SCALAR_TYPES["int64"]


def require(state: State, load: BufferLoad, vectors: Sequence[VectorEmitter], otherwise: str) -> None:
    """Go on if all that `load` reads in some vectors is in range, else go to the block `otherwise`."""
    code = state.code
    checked = [at for at in range(len(load.indices)) if not state.is_in_range(load, at)]
    if not state.options.is_checked or not checked:
        return
    state.checked.append(load)
    before = code.set_location(load, is_check=True)
    found: list[list[str]] = []
    for lanes in vectors:
        with lanes.inside():
            found.append(lanes.places(load))
    fits = "true"
    for at in checked:
        scalar = state.scalar_of(load.indices[at])
        extent = state.storage[load.buffer].extents[at]
        fit = _are_below(state, [places[at] for places in found], scalar, (vectors[0].gather.lanes, extent))
        fits = fit if fits == "true" else code.emit(f"and i1 {fits}, {fit}")
    fine = code.label("fine")
    code.branch(fits, fine, otherwise, expects_true=True)
    code.start(fine)
    code.restore_location(before)


def _are_below(state: State, places: Sequence[str], scalar: ScalarType, shape: tuple[int, str]) -> str:
    """Emit whether all lanes of vectors are below an extent, without signs; `shape` is how many lanes, and the extent.

    The sign of `(extent - 1 - i) | i` is set just where `i` is negative or not below the extent.
    """
    code = state.code
    lanes, extent = shape
    if scalar.kind == "uint":
        source, wide = (vector_type(item, lanes) for item in (scalar.register, "i64"))
        places = places if scalar.bits == _WORD.bits else [code.emit(f"zext {source} {at} to {wide}") for at in places]
        scalar = _WORD
    vector = vector_type(scalar.register, lanes)
    greatest = places[0]
    name = f"@llvm.umax.v{lanes}{scalar.register}"
    for place in places[1:]:
        code.declare(f"declare {vector} {name}({vector}, {vector})")
        greatest = code.emit(f"call {vector} {name}({vector} {greatest}, {vector} {place})")
    last = splat(code, scalar.register, lanes, _last(state, extent, scalar))
    beyond = code.emit(f"sub {vector} {last}, {greatest}")
    return _is_positive(state, code.emit(f"or {vector} {beyond}, {greatest}"), scalar, lanes)


def _last(state: State, extent: str, scalar: ScalarType) -> str:
    """Emit the greatest index in range; one of a narrow dtype is never more than the greatest of that."""
    code = state.code
    if "%" not in extent:
        return integer_literal(min(int(extent) - 1, scalar.high), scalar)
    last = code.emit(f"sub nsw i64 {extent}, 1")
    if scalar.bits == _WORD.bits:
        return last
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    least = code.emit(f"call i64 @llvm.smin.i64(i64 {last}, i64 {scalar.high})")
    return code.emit(f"trunc i64 {least} to {scalar.register}")


def _is_positive(state: State, value: str, scalar: ScalarType, lanes: int) -> str:
    """Emit whether no lane of a vector has its sign set."""
    code = state.code
    while lanes * scalar.bits > TESTED_BITS:
        vector, half = vector_type(scalar.register, lanes), lanes // 2
        parts = [", ".join(f"i32 {first + lane}" for lane in range(half)) for first in (0, half)]
        low, high = (
            code.emit(f"shufflevector {vector} {value}, {vector} poison, <{half} x i32> <{at}>") for at in parts
        )
        lanes = half
        value = code.emit(f"or {vector_type(scalar.register, lanes)} {low}, {high}")
    vector = vector_type(scalar.register, lanes)
    sign = splat(code, scalar.register, lanes, integer_literal(scalar.low, scalar))
    signs = code.emit(f"and {vector} {value}, {sign}")
    bits = code.emit(f"bitcast {vector} {signs} to i{lanes * scalar.bits}")
    return code.emit(f"icmp eq i{lanes * scalar.bits} {bits}, 0", "in")
