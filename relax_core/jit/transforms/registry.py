"""The transformations in the order in which they are tried at every loop, and how a loop is handed to them."""

from collections.abc import Callable
from dataclasses import dataclass

from relax_core.ir.tir import For
from relax_core.jit.options import Mode
from relax_core.jit.remarks import KernelRemark
from relax_core.jit.state import State


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop is going to be emitted: `reason` is what the remark says, `emit` writes the code."""

    reason: str
    emit: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a loop that looks like the transformation's is left to the naive lowering."""

    reason: str


@dataclass(frozen=True, slots=True)
class Transform:
    """A transformation of a nest of loops.

    `plan` looks at a loop and emits nothing: `None` if the loop is not of its kind at all. Its code computes the
    same values, bit for bit, as the naive lowering in each of `modes`; in "fast" it may differ by rounding.
    """

    name: str
    summary: str
    modes: frozenset[Mode]
    plan: Callable[[State, For], Plan | Refusal | None]


TRANSFORMS: tuple[Transform, ...] = ()


def emit_transformed(state: State, loop: For) -> bool:
    """Emit `loop` by the first transformation that takes it; tell whether there is one."""
    if not state.options.is_transformed:
        return False
    for transform in TRANSFORMS:
        if state.options.mode not in transform.modes:
            continue
        match transform.plan(state, loop):
            case Plan(reason=reason, emit=emit):
                state.remarks.append(KernelRemark("applied", transform.name, loop, reason))
                state.code.comment(f"{transform.name}: {reason}")
                emit()
                return True
            case Refusal(reason=reason):
                state.remarks.append(KernelRemark("refused", transform.name, loop, reason))
            case None:
                pass
    return False
