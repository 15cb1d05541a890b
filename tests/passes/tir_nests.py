"""Loop nests drawn at random that fill and read a buffer, and an interpreter in which fresh memory holds NaN."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relax_core.ir import tir
from relax_core.ir.tir import PrimFunc
from tests.jit.reference import Array, Reference

SIDE = 24
"""Indices are sums of three variables below 4, at most three times each, and of a number below 4."""
EXTENTS = (1, 2, 3, 4)


class FreshMemory(Reference):
    """Gives a block new memory, full of NaN, each time it runs: what is read there and not written shows."""

    def block(self, block: tir.Block) -> None:
        for buffer in block.alloc_buffers:
            self.arrays[buffer] = np.full([self.eval(dim) for dim in buffer.shape], np.nan, buffer.dtype)
        super().block(block)

    def run(self, stmt: tir.Stmt) -> None:
        match stmt:
            case tir.DeclBuffer(buffer=buffer, body=body, pointer=None):
                self.arrays[buffer] = np.full([self.eval(dim) for dim in buffer.shape], np.nan, buffer.dtype)
                self.run(body)
            case tir.Evaluate():
                pass
            case _:
                super().run(stmt)


def output(function: PrimFunc, given: Array) -> Array:
    """Run a prim func of `nests`; what it does not write is NaN."""
    arrays: Mapping[str, Array] = {"A": given, "C": np.full((SIDE, SIDE), np.nan, np.float32)}
    FreshMemory(function, arrays)
    return arrays["C"]


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Draw the body of a prim func of A and C, (24, 24), that uses buffers B and D of the same shape."""
    return "\n".join(
        (
            'with T.sblock("root"):',
            f'    B = T.sblock_alloc_buffer(({SIDE}, {SIDE}), "float32")',
            f'    D = T.sblock_alloc_buffer(({SIDE}, {SIDE}), "float32")',
            *_lines(draw, (), 3, "    ", []),
        )
    )


@dataclass(frozen=True, slots=True)
class Written:
    """A place of a buffer that was written, with the loops that have been left since."""

    buffer: str
    place: str
    left: tuple[tuple[str, int], ...] = ()


def _lines(draw: st.DrawFn, variables: tuple[str, ...], depth: int, indent: str, known: list[Written]) -> list[str]:
    """Draw statements; what they write is added to `known`."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("loop", "loop", "loop", "store", "use", "use", "use", "first", "if")))
        if kind == "loop" and depth:
            var, extent = f"i{len(variables)}", draw(st.sampled_from(EXTENTS))
            lines.append(f"{indent}for {var} in range({extent}):")
            inner = [*known]
            lines += _lines(draw, (*variables, var), depth - 1, f"{indent}    ", inner)
            known += [replace(item, left=((var, extent), *item.left)) for item in inner[len(known) :]]
        elif kind == "use" and known:
            lines += _use(draw, variables, indent, draw(st.sampled_from(known)))
        elif kind in ("first", "if") and variables:
            var = draw(st.sampled_from(variables))
            condition = f"{var} == 0" if kind == "first" else f"{_index(draw, variables)} < {draw(st.integers(1, 6))}"
            lines.append(f"{indent}if {condition}:")
            lines.append(f"{indent}    {_store(draw, variables, known)}")
        else:
            lines.append(f"{indent}{_store(draw, variables, known)}")
    return lines


def _store(draw: st.DrawFn, variables: tuple[str, ...], known: list[Written]) -> str:
    target = draw(st.sampled_from("BBD"))
    place = _place(draw, variables)
    source = draw(st.sampled_from(("A", "A", "B", "D")))
    other = place if draw(st.booleans()) else _place(draw, variables)
    known.append(Written(target, place))
    return f"{target}[{place}] = {source}[{other}] + T.float32({draw(st.integers(1, 9))})"


def _use(draw: st.DrawFn, variables: tuple[str, ...], indent: str, given: Written) -> list[str]:
    """Read what was written, most often in loops as long as those that wrote it."""
    lines: list[str] = []
    for var, extent in given.left:
        other = draw(st.sampled_from((extent, extent, extent, extent, *EXTENTS)))
        lines.append(f"{indent}for {var} in range({other}):")
        indent += "    "
    every = (*variables, *(var for var, _ in given.left))
    target = draw(st.sampled_from("CCCD"))
    lines.append(f"{indent}{target}[{_place(draw, every)}] = {given.buffer}[{given.place}] * T.float32(2)")
    return lines


def _place(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    return f"{_index(draw, variables)}, {_index(draw, variables)}"


def _index(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    used = draw(st.lists(st.sampled_from(variables), max_size=2, unique=True)) if variables else []
    terms = [name if (factor := draw(st.sampled_from((1, 1, 1, 2, 3)))) == 1 else f"{name} * {factor}" for name in used]
    number = draw(st.sampled_from((0, 0, 0, 1, 2)))
    return " + ".join((*terms, str(number))) if number or not terms else " + ".join(terms)


def same_where_written(before: Array, after: Array) -> None:
    """Compare outputs but for elements that the first program made of what it never wrote."""
    known = ~np.isnan(before)
    np.testing.assert_array_equal(after[known], before[known])


def numbers() -> Any:
    """Return the elements of A."""
    return np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
