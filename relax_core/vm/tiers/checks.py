"""Redundant parameter checks: those that the first kernel's check of its own arguments implies.

Code for runs that are not recorded omits them. If the kernel refuses an argument, the explicit tier restarts the
function, whose checks come first and report the violation. The restart cannot be observed: up to that kernel the
function only checks and executes idempotent instructions (`REPEATABLE`), and all parameters are still live.
"""

from dataclasses import dataclass
from typing import Final

from relax_core.bytecode.isa import CallInstruction, ConstantRef, Immediate, Register
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.tir import PrimFunc
from relax_core.vm.builtin.heap import EQUAL_TO_IMMEDIATE, NO_CHECK
from relax_core.vm.decode import pool_value
from relax_core.vm.objects.values import DTypeValue
from relax_core.vm.recording.liveness import written
from relax_core.vm.tiers.segments import Body

LATEST: Final = 12
"""How many leading instructions are searched for the kernel."""
REPEATABLE: Final = frozenset(("vm.builtin.alloc_storage", "vm.builtin.alloc_tensor", "vm.builtin.copy"))


@dataclass(frozen=True, slots=True)
class Demand:
    """What a check requires of the tensor in a register; -1 and `None` require nothing. `dims`: axes, sizes."""

    register: int
    rank: int = -1
    dtype: str | None = None
    dims: tuple[tuple[int, int], ...] = ()


def implied_checks(body: Body, pcs: list[int], filled: dict[int, int]) -> dict[int, int]:
    """Return the leading checks of a function that may be omitted, each with the kernel that implies it."""
    found: dict[int, int] = {}
    if not pcs or pcs[0] != 0:
        return found
    for pc in pcs:
        demand = _demand(body, pc)
        if demand is None:
            break
        kernel = _kernel(body, pcs, filled, demand)
        if kernel is not None:
            found[pc] = kernel
    return found


def _demand(body: Body, pc: int) -> Demand | None:
    match body.name(pc), body.code[pc]:
        case "vm.builtin.check_tensor_info", CallInstruction(
            args=(Register() as value, Immediate() as rank, dtype, *_)
        ):
            wanted = (
                pool_value(body.facts.executable.constants[dtype.index]) if isinstance(dtype, ConstantRef) else None
            )
            return Demand(value.index, rank.value, wanted.name if isinstance(wanted, DTypeValue) else None)
        case "vm.builtin.match_shape", CallInstruction(args=(Register() as value, _, Immediate() as rank, *rest)):
            numbers = [item.value for item in rest[:-1] if isinstance(item, Immediate)]
            pairs = tuple(zip(numbers[::2], numbers[1::2], strict=True))
            if any(code not in (EQUAL_TO_IMMEDIATE, NO_CHECK) for code, _ in pairs):
                return None
            dims = tuple((axis, size) for axis, (code, size) in enumerate(pairs) if code == EQUAL_TO_IMMEDIATE)
            return Demand(value.index, rank.value, None, dims)
        case _:
            return None


def _kernel(body: Body, pcs: list[int], filled: dict[int, int], demand: Demand) -> int | None:
    """Return the first kernel that implies `demand`, if nothing before it is unrepeatable."""
    for pc in pcs[:LATEST]:
        if pc in filled:
            if _implies(body, pc, demand):
                return pc
        elif _demand(body, pc) is None and body.name(pc) not in REPEATABLE:
            return None
        if not _survives(body, pc):
            return None
    return None


def _survives(body: Body, pc: int) -> bool:
    """Tell whether every parameter is still in its register after an instruction."""
    made = {written(item) for item in body.code[: pc + 1]}
    return body.liveness.dying[pc] <= made


def _implies(body: Body, pc: int, demand: Demand) -> bool:
    call = body.call(pc)
    prim_func = body.facts.prim_func(call.function)
    positions = (number for number, item in enumerate(call.args[:-1]) if item == Register(demand.register))
    return any(_checks(prim_func, position, demand) for position in positions)


def _checks(prim_func: PrimFunc, position: int, demand: Demand) -> bool:
    """Tell whether a kernel accepts for a parameter only arguments that satisfy `demand`."""
    buffer = prim_func.buffer_of(prim_func.params[position])
    if buffer is None or buffer.strides:
        return False
    if demand.rank not in (-1, len(buffer.shape)) or demand.dtype not in (None, buffer.dtype):
        return False
    return all(constant_value(buffer.shape[axis]) == size for axis, size in demand.dims)
