"""The limit that an indirect index is compared with: its extent, or more where it may count from the end."""

from dataclasses import dataclass

from relax_core.ir.prim import Binary, PrimExpr, Select
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.guard_read import Check, is_same

WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Bound:
    """An index is in range just if `index + shift` is less than `extent + shift` without signs.

    `shift` and `extent` are 64-bit registers or literals; there is nothing to add where `shift` is empty.
    """

    index: PrimExpr
    shift: str
    extent: str


def bound_of(state: State, check: Check) -> Bound:
    """Return what is checked for an index, and its limit.

    `i + n if i < 0 else i` is less than `m` just if `i + n` is less than `m + n`, for `n` up to `m` and without signs.
    """
    extent = state.storage[check.access.buffer].extents[check.position]
    match check.index:
        case Select(condition=Binary(op="<", a=i, b=zero), true_value=Binary(op="+", a=a, b=n), false_value=b):
            scalar = state.scalar_of(i)
            counts_back = is_same(i, a) and is_same(i, b) and state.bounds.constant(zero) == 0 and scalar.kind == "int"
            size = state.bounds.constant(n)
            if counts_back and size is not None and "%" not in extent:
                if 0 < size <= int(extent) and size + int(extent) <= scalar.high:
                    return Bound(i, str(size), extent)
            elif counts_back and scalar.bits == WORD_BITS and _is_extent(state, check, n):
                return Bound(i, extent, extent)
        case _:
            pass
    return Bound(check.index, "", extent)


def limit_of(state: State, bound: Bound) -> str:
    """Return what `index + shift` is less than."""
    if not bound.shift:
        return bound.extent
    if "%" in bound.extent:
        # Extents are so far below what a word holds that no sum of two wraps around.
        return state.code.emit(f"add nuw nsw i64 {bound.extent}, {bound.shift}")
    return str(int(bound.extent) + int(bound.shift))


def _is_extent(state: State, check: Check, size: PrimExpr) -> bool:
    """Tell whether `size` surely is the extent that the index is compared with."""
    bounds = state.bounds
    extent = check.access.buffer.shape[check.position]
    return bounds.poly(size) == bounds.poly(extent)
