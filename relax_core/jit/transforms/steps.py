"""How far the loops around an element move it in memory, from one round to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, PrimExpr, dtype_of
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, LetStmt
from relax_core.jit.lowering.bounds import dtype_interval
from relax_core.jit.lowering.polynomial import Interval, Polynomial, add, constant, multiply, split
from relax_core.jit.lowering.state import State

Steps: TypeAlias = Mapping[For, Polynomial]


@dataclass(slots=True)
class Stepping:
    """What is entered of a nest: loops by the atoms that their variables are, and all variables that they change."""

    state: State
    atoms: dict[int, For] = field(default_factory=dict[int, For])
    varying: set[Node] = field(default_factory=set[Node])

    def enter(self, stmt: For | Block | LetStmt) -> None:
        """Declare what a statement binds; the facts about it end with a mark of the caller's."""
        bounds = self.state.bounds
        match stmt:
            case For(var=var) as loop:
                bounds.enter_loop(loop)
                ((atom,),) = bounds.poly(var)
                self.atoms[atom] = loop
                self.varying.add(var)
            case Block(iter_vars=iter_vars):
                for item in iter_vars:
                    self.varying |= {item.var} if self.is_varying(item.binding) else set()
                    bounds.bind_let(item.var, item.binding)
            case LetStmt(var=var, value=value):
                self.varying |= {var} if self.is_varying(value) else set()
                bounds.bind_let(var, value)

    def is_varying(self, expr: PrimExpr) -> bool:
        """Tell whether an expression names a variable that changes from round to round."""
        return any(item in self.varying for item in postorder(expr))

    def place(self, access: BufferLoad | BufferStore) -> tuple[Steps, Polynomial] | None:
        """Return how far loops move an element in its buffer, and where it lies besides; all indices are in range.

        `None` if the distance from one round to the next is not always the same.
        """
        bounds = self.state.bounds
        steps: dict[For, Polynomial] = {}
        rest: Polynomial = {}
        stride = constant(1)
        for position in reversed(range(len(access.indices))):
            if access.buffer.strides:
                stride = bounds.poly(access.buffer.strides[position])
            found = self.linear(access.indices[position])
            if found is None:
                return None
            for loop, step in found[0].items():
                steps[loop] = add(steps.get(loop, {}), multiply(stride, step))
            rest = add(rest, multiply(stride, found[1]))
            stride = multiply(stride, bounds.poly(access.buffer.shape[position]))
        return {loop: step for loop, step in steps.items() if step}, rest

    def linear(self, expr: PrimExpr) -> tuple[Steps, Polynomial] | None:
        """Take an index apart. A sum that may wrap around does not where it is an index in range.

        From one round to the next such an index moves by a step that is a number of its dtype, or by that number modulo
        the size of the dtype: where both are less than half of that, they are the same.
        """
        rest = self.state.bounds.poly(expr)
        steps: dict[For, Polynomial] = {}
        for atom, loop in self.atoms.items():
            parts = split(rest, atom)
            if parts is None:
                return None
            if parts[0]:
                steps[loop], rest = parts
        if not any(self._is_varying_in(p) for p in (*steps.values(), rest)):
            return steps, rest
        match expr:
            case Binary(op="+" | "-" as op, a=a, b=b) if dtype_of(a) == dtype_of(b):
                left, right = self.linear(a), self.linear(b)
                if left is None or right is None:
                    return None
                factor = 1 if op == "+" else -1
                loops = {**left[0], **right[0]}
                total = {loop: add(left[0].get(loop, {}), right[0].get(loop, {}), factor) for loop in loops}
                limits = dtype_interval(dtype_of(expr))
                half = Interval(limits.low + 1, limits.high)
                bounds = self.state.bounds
                if limits.low >= 0 or not all(bounds.interval_of(step).is_within(half) for step in total.values()):
                    return None
                return total, add(left[1], right[1], factor)
            case _:
                return None

    def _is_varying_in(self, p: Polynomial) -> bool:
        atoms = self.state.bounds.atoms
        return any(number in self.atoms or self.is_varying(atoms[number].expr) for key in p for number in key)
