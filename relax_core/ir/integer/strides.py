"""How far each loop around an access moves it in memory, from one iteration to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.integer.polynomial import Polynomial, add, constant, multiply, split
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, PrimExpr, dtype_of
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, LetStmt

Strides: TypeAlias = Mapping[For, Polynomial[int]]


@dataclass(slots=True)
class StrideReader:
    """Reads strides inside of the loops that were entered: `loop_of` an atom, and all variables that vary with them."""

    bounds: Bounds
    loop_of: dict[int, For] = field(default_factory=dict[int, For])
    variant: set[Node] = field(default_factory=set[Node])

    def enter(self, stmt: For | Block | LetStmt) -> None:
        """Declare what a statement binds; the facts about it end with a mark of the caller's."""
        bounds = self.bounds
        match stmt:
            case For(var=var) as loop:
                bounds.enter_loop(loop)
                ((atom,),) = bounds.poly(var)
                self.loop_of[atom] = loop
                self.variant.add(var)
            case Block(iter_vars=iter_vars):
                for item in iter_vars:
                    self.variant |= {item.var} if self.is_variant(item.binding) else set()
                    bounds.bind_let(item.var, item.binding)
            case LetStmt(var=var, value=value):
                self.variant |= {var} if self.is_variant(value) else set()
                bounds.bind_let(var, value)

    def is_variant(self, expr: PrimExpr) -> bool:
        """Tell whether an expression names a variable that changes from iteration to iteration."""
        return any(item in self.variant for item in postorder(expr))

    def of_access(self, access: BufferLoad | BufferStore) -> tuple[Strides, Polynomial[int]] | None:
        """Return how far loops move an element in its buffer, and where it lies besides; all indices are in range.

        `None` if the distance from one iteration to the next is not always the same.
        """
        bounds = self.bounds
        strides: dict[For, Polynomial[int]] = {}
        rest: Polynomial[int] = {}
        row = constant(1)
        for position in reversed(range(len(access.indices))):
            if access.buffer.strides:
                row = bounds.poly(access.buffer.strides[position])
            found = self.of_index(access.indices[position])
            if found is None:
                return None
            for loop, stride in found[0].items():
                strides[loop] = add(strides.get(loop, {}), multiply(row, stride))
            rest = add(rest, multiply(row, found[1]))
            row = multiply(row, bounds.poly(access.buffer.shape[position]))
        return {loop: stride for loop, stride in strides.items() if stride}, rest

    def of_index(self, expr: PrimExpr) -> tuple[Strides, Polynomial[int]] | None:
        """Take an index in range apart into its strides and the rest.

        Its sums may wrap around on the way. From one iteration to the next such an index moves by the stride modulo the
        size of its dtype. Two indices in range lie less than half of that size apart, and the stride is required to be
        less than half of it too: so they move by the stride itself. A dtype without sign has no such half, and is
        not taken apart.
        """
        rest = self.bounds.poly(expr)
        strides: dict[For, Polynomial[int]] = {}
        for atom, loop in self.loop_of.items():
            parts = split(rest, atom)
            if parts is None:
                return None
            if parts[0]:
                strides[loop], rest = parts
        if not any(self._is_variant_in(p) for p in (*strides.values(), rest)):
            return strides, rest
        match expr:
            case Binary(op="+" | "-" as op, a=a, b=b) if dtype_of(a) == dtype_of(b):
                left, right = self.of_index(a), self.of_index(b)
                if left is None or right is None:
                    return None
                factor = 1 if op == "+" else -1
                loops = {**left[0], **right[0]}
                total = {loop: add(left[0].get(loop, {}), right[0].get(loop, {}), factor) for loop in loops}
                limits = dtype_interval(dtype_of(expr))
                half = Interval(limits.low + 1, limits.high)
                if limits.low >= 0 or not all(self.bounds.interval_of(p).is_within(half) for p in total.values()):
                    return None
                return total, add(left[1], right[1], factor)
            case _:
                return None

    def _is_variant_in(self, p: Polynomial[int]) -> bool:
        atoms = self.bounds.atoms
        return any(number in self.loop_of or self.is_variant(atoms[number].expr) for key in p for number in key)
