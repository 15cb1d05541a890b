"""The copies of padded operands as loop nests: a box of all that is read, with the padding written out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from relax_core.ir.integer.affine import Affine
from relax_core.ir.prim import IntImm, PrimExpr, Select, binary, const
from relax_core.ir.tir import Buffer, BufferLoad, Stmt
from relax_core.jit.transforms.contractions.contraction import Edge, Operand, box_of
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.plan_nest import Point, local, over, plus, store, times


@dataclass(frozen=True, slots=True)
class Box:
    """The copy of a guarded operand; its `edges` are the dimensions of the `buffer`."""

    operand: Operand
    buffer: Buffer
    edges: tuple[Edge, ...]

    def load(self, places: Point) -> BufferLoad:
        """Return the element that is read at places of all axes."""
        return BufferLoad(self.buffer, tuple(_sum(edge.inside, places) for edge in self.edges))

    def filled(self, places: Point) -> Stmt:
        """Return the loops that copy it; `places` are those of the axes around it."""
        return self._edge((), places)

    def _edge(self, inside: tuple[PrimExpr, ...], places: Point) -> Stmt:
        if len(inside) == len(self.edges):
            return store(BufferLoad(self.buffer, inside), self._value(inside, places))
        extent = self.edges[len(inside)].extent
        return over(f"p{len(inside)}", extent, lambda at: self._edge((*inside, at), places))

    def _value(self, inside: tuple[PrimExpr, ...], places: Point) -> PrimExpr:
        guard = self.operand.guard
        assert guard is not None, "only guarded operands are copied"
        conditions: list[PrimExpr] = []
        indices: list[PrimExpr] = []
        for edge, at in zip(self.edges, inside, strict=True):
            dividend, divisor = plus(_sum(edge.first, places), at), const(edge.divisor, "int64")
            low, high = (const(bound, "int64") for bound in (edge.valid.low, edge.valid.high))
            conditions += [binary(">=", dividend, low), binary("<=", dividend, high)]
            if edge.divisor > 1:
                conditions.append(binary("==", binary("%", dividend, divisor), const(0, "int64")))
            indices.append(dividend if edge.divisor == 1 else binary("//", dividend, divisor))
        load = BufferLoad(self.operand.access.buffer, tuple(indices))
        return Select(
            reduce(lambda a, b: binary("and", a, b), conditions), load, guard.default, load.buffer.dtype, is_lazy=True
        )


def boxes_of(tiling: Tiling) -> Mapping[PrimExpr, Box]:
    """Return the copies that are made inside of the outer axes."""
    found: dict[PrimExpr, Box] = {}
    for node in tiling.staged:
        operand = tiling.contraction.operands[node]
        edges = box_of(tiling.contraction, operand, tiling.outer)
        buffer = operand.access.buffer
        found[node] = Box(operand, local(f"{buffer.name}_padded", [edge.extent for edge in edges], buffer.dtype), edges)
    return found


def _sum(affine: Affine, places: Point) -> PrimExpr:
    total: PrimExpr = IntImm(0, "int64")
    for var, factor in affine.coefficients.items():
        total = plus(total, times(places.get(var, var), factor))
    return plus(total, const(affine.constant, "int64"))
