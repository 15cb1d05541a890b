"""Loop nests drawn at random that fill and read a buffer, and an interpreter in which fresh memory holds NaN."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relax_core.ir import tir
from relax_core.ir.prim import Cast, PrimExpr
from relax_core.ir.tir import PrimFunc
from tests.jit.reference import Array, Reference

SIDE = 24
"""Indices are sums of three variables below 4, at most three times each, and of a number below 4."""
EXTENTS = (1, 2, 3, 4)
SCRATCH = ("B", "D", "E", "F")


class FreshMemory(Reference):
    """Gives a block new memory, full of NaN, each time it runs: what is read there and not written shows."""

    def block(self, block: tir.Block) -> None:
        for buffer in block.alloc_buffers:
            self.arrays[buffer] = _fresh([self.eval(dim) for dim in buffer.shape], buffer.dtype)
        super().block(block)

    def run(self, stmt: tir.Stmt) -> None:
        match stmt:
            case tir.DeclBuffer(buffer=buffer, body=body, pointer=tir.BufferRef(buffer=memory)):
                shape = [self.eval(dim) for dim in buffer.shape]
                self.arrays[buffer] = (
                    self.arrays[memory].reshape(-1).view(buffer.dtype)[: math.prod(shape)].reshape(shape)
                )
                self.run(body)
            case tir.DeclBuffer(buffer=buffer, body=body, pointer=None):
                self.arrays[buffer] = _fresh([self.eval(dim) for dim in buffer.shape], buffer.dtype)
                self.run(body)
            case tir.Evaluate():
                pass
            case _:
                super().run(stmt)

    def eval(self, expr: PrimExpr) -> Any:
        if isinstance(expr, Cast) and expr.dtype.startswith("int"):
            return self.fit(math.trunc(float(self.eval(expr.value))), expr.dtype)
        return super().eval(expr)


def output(function: PrimFunc, given: Array) -> Array:
    """Run a prim func of `nests`; what it does not write is NaN."""
    arrays: Mapping[str, Array] = {"A": given, "C": np.full((SIDE, SIDE), np.nan, np.float32)}
    FreshMemory(function, arrays)
    return arrays["C"]


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Draw the body of a prim func of A and C, (24, 24), that uses buffers B, D, E and F of the same shape."""
    buffers = (f'    {name} = T.sblock_alloc_buffer(({SIDE}, {SIDE}), "float32")' for name in SCRATCH)
    known: list[Written] = []
    lines = _lines(draw, (), 3, "    ", known)
    for item in known[-3:]:
        lines += _use(draw, (), "    ", [item])
    return "\n".join(('with T.sblock("root"):', *buffers, *lines))


def _fresh(shape: list[int], dtype: str) -> Array:
    return np.full(shape, np.nan if dtype.startswith("float") else -99_999, dtype)


@dataclass(frozen=True, slots=True)
class Written:
    """A place of a buffer that was written, with the loops that have been left since."""

    buffer: str
    place: str
    left: tuple[tuple[str, int], ...] = ()


def _lines(draw: st.DrawFn, variables: tuple[str, ...], depth: int, indent: str, known: list[Written]) -> list[str]:
    """Draw statements; what they write is added to `known`."""
    lines: list[str] = []
    for _ in range(draw(st.integers(2, 4))):
        kind = draw(st.sampled_from(("loop", "loop", "loop", "loop", "store", "use", "use", "use", "first", "if")))
        if kind == "loop" and depth:
            var, extent = f"i{len(variables)}", draw(st.sampled_from(EXTENTS))
            lines.append(f"{indent}for {var} in range({extent}):")
            inner = [*known]
            lines += _lines(draw, (*variables, var), depth - 1, f"{indent}    ", inner)
            known += [replace(item, left=((var, extent), *item.left)) for item in inner[len(known) :]]
        elif kind == "use" and known:
            lines += _use(draw, variables, indent, known)
        elif kind in ("first", "if") and variables:
            var = draw(st.sampled_from(variables))
            condition = f"{var} == 0" if kind == "first" else f"{_index(draw, variables)} < {draw(st.integers(1, 6))}"
            lines.append(f"{indent}if {condition}:")
            lines.append(f"{indent}    {_store(draw, variables, known)}")
        else:
            lines.append(f"{indent}{_store(draw, variables, known)}")
    return lines


def _store(draw: st.DrawFn, variables: tuple[str, ...], known: list[Written]) -> str:
    target = draw(st.sampled_from(SCRATCH))
    place = _place(draw, variables)
    source = draw(st.sampled_from(("A",) * 9 + SCRATCH))
    other = place if draw(st.booleans()) else _place(draw, variables)
    known.append(Written(target, place))
    return f"{target}[{place}] = {source}[{other}] + T.float32({draw(st.integers(1, 9))})"


def _use(draw: st.DrawFn, variables: tuple[str, ...], indent: str, known: list[Written]) -> list[str]:
    """Read what was written, most often in loops as long as those that wrote it."""
    given = draw(st.sampled_from(known))
    lines: list[str] = []
    for var, extent in given.left:
        other = draw(st.sampled_from((extent, extent, extent, extent, *EXTENTS)))
        lines.append(f"{indent}for {var} in range({other}):")
        indent += "    "
    every = (*variables, *(var for var, _ in given.left))
    target = draw(st.sampled_from(("C", "C", "C", "C", *SCRATCH)))
    place = given.place if target != "C" and draw(st.booleans()) else _place(draw, every)
    if target != "C":
        known.append(Written(target, place, given.left))
    lines.append(f"{indent}{target}[{place}] = {given.buffer}[{given.place}] * T.float32(2)")
    return lines


def _place(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    return f"{_index(draw, variables)}, {_index(draw, variables)}"


def _index(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    used = draw(st.lists(st.sampled_from(variables), max_size=2, unique=True)) if variables else []
    terms = [name if (factor := draw(st.sampled_from((1, 1, 1, 2, 3)))) == 1 else f"{name} * {factor}" for name in used]
    number = draw(st.sampled_from((0, 0, 0, 1, 2)))
    return " + ".join((*terms, str(number))) if number or not terms else " + ".join(terms)


@st.composite
def chains(draw: st.DrawFn) -> str:
    """Draw the body of a prim func of A and C that fills rows one from the other, some of them in a loop."""
    rows = [f"R{at}" for at in range(draw(st.integers(3, 7)))]
    lengths = {row: draw(st.sampled_from((2, 5, 12, 12, 12, 24))) for row in rows}
    dtypes = {row: draw(st.sampled_from(("float32", "float32", "float32", "int32", "float64"))) for row in rows}
    allocations = [f'{row} = T.alloc_buffer(({lengths[row]},), "{dtypes[row]}")' for row in rows]
    filled: list[str] = []
    steps: list[str] = []
    for number in range(draw(st.integers(3, 9))):
        fresh = [row for row in rows if row not in filled]
        target = draw(st.sampled_from(fresh or rows)) if draw(st.integers(0, 4)) else draw(st.sampled_from(rows))
        length = lengths[target]
        source = draw(st.sampled_from((*filled, filled[-1], filled[-1]))) if filled and draw(st.integers(0, 3)) else "A"
        place = _row_place(draw, length, SIDE if source == "A" else lengths[source])
        value = f"A[o, {place}]" if source == "A" else f'T.Cast("float32", {source}[{place}]) * T.float32(0.5)'
        if filled and draw(st.integers(0, 3)) == 0:
            other = draw(st.sampled_from(filled))
            value = f'{value} + T.Cast("float32", {other}[{_row_place(draw, length, lengths[other])}])'
        again = draw(st.sampled_from(("", "", "", "for r in range(2):")))
        nest = [*([again] if again else []), f"for i in range({length}):"]
        store = f'{target}[i] = T.Cast("{dtypes[target]}", {value})'
        steps += [f"{'    ' * depth}{line}" for depth, line in enumerate((*nest, store))]
        filled = [*filled, *([target] if target not in filled else [])]
        if draw(st.integers(0, 2)) == 0:
            row = draw(st.sampled_from(filled))
            length = lengths[row]
            steps += [f"for i in range({length}):", f'    C[o * 6 + {number % 6}, i] = T.Cast("float32", {row}[i])']
    row = filled[-1]
    steps += [f"for i in range({lengths[row]}):", f'    C[o, i] = T.Cast("float32", {row}[i])']
    loop = draw(st.sampled_from(("for o in range(4):", "for o in T.parallel(4):")))
    inner = ["    " + line for line in steps]
    if draw(st.integers(0, 3)):
        return "\n".join((loop, *("    " + line for line in allocations), *inner))
    return "\n".join((*allocations, "for o in range(4):", *inner))


def _row_place(draw: st.DrawFn, length: int, size: int) -> str:
    """Draw a place in a row of `size` elements for the element `i` of one of `length`."""
    places = [f"i % {size}", "0"]
    if length <= size:
        places += ["i", "i", "i", f"{length - 1} - i", f"i + {size - length}"]
    return draw(st.sampled_from(places))


def same_where_written(before: Array, after: Array) -> None:
    """Compare outputs but for elements that the first program made of what it never wrote."""
    known = ~np.isnan(before)
    np.testing.assert_array_equal(after[known], before[known])


def numbers() -> Any:
    """Return the elements of A."""
    return np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
