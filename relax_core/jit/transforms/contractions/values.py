"""Code for the term of a contraction, by row and vector of a tile, with uniform values shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_core.ir.integer.affine import Affine
from relax_core.ir.prim import Binary, Cast, FloatImm, IntImm, PrimExpr
from relax_core.jit.lowering.memory.storage import Storage
from relax_core.jit.lowering.scalars.scalar import number_literal
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.vector_code import (
    at_distance,
    combine,
    converted,
    load_apart,
    splat,
    widened,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an operand is read: in its buffer, or in a copy. A copy has all lanes, whatever the buffer's extent is."""

    storage: Storage
    offset: Affine
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The size of a tile: rows, vectors, and how many lanes of the last vector are of the axis."""

    rows: int
    vectors: int
    last: int

    def active(self, vector: int, lanes: int) -> int:
        """Return how many lanes of a vector are of the axis."""
        return lanes if vector < self.vectors - 1 else self.last


@dataclass(slots=True)
class TileValues:
    """Emits each value once where it is needed, behind `pointers` to the first row and lane of every operand."""

    state: State
    tiling: Tiling
    sources: Mapping[PrimExpr, Source]
    pointers: Mapping[PrimExpr, str]
    part: Part
    _uses: dict[PrimExpr, tuple[bool, bool]] = field(default_factory=dict[PrimExpr, tuple[bool, bool]])
    _made: dict[tuple[PrimExpr, int, int, bool], str] = field(
        default_factory=dict[tuple[PrimExpr, int, int, bool], str]
    )

    def vector(self, expr: PrimExpr, row: int, vector: int) -> str:
        """Emit the value of `expr` in all lanes."""
        uses_row, uses_lanes = self.uses(expr)
        if uses_lanes:
            return self._value(expr, row, vector)
        key = (expr, row if uses_row else 0, 0, True)
        found = self._made.get(key)
        if found is None:
            value = self._value(expr, row, vector)
            found = self._made[key] = splat(self.state.code, self._scalar(expr).register, self.tiling.lanes, value)
        return found

    def uses(self, expr: PrimExpr) -> tuple[bool, bool]:
        """Tell whether a value differs between rows, and between lanes."""
        found = self._uses.get(expr)
        if found is None:
            match expr:
                case _ if expr in self.sources:
                    offset = self.sources[expr].offset
                    found = bool(offset.of(self.tiling.rows.var)), bool(offset.of(self.tiling.columns.var))
                case Binary(a=a, b=b):
                    left, right = self.uses(a), self.uses(b)
                    found = left[0] or right[0], left[1] or right[1]
                case Cast(value=value):
                    found = self.uses(value)
                case _:
                    found = False, False
            self._uses[expr] = found
        return found

    def _scalar(self, expr: PrimExpr) -> ScalarType:
        return self.state.scalar_of(expr)

    def _value(self, expr: PrimExpr, row: int, vector: int) -> str:
        """Emit a value, a vector if it differs between lanes."""
        uses_row, uses_lanes = self.uses(expr)
        key = (expr, row if uses_row else 0, vector if uses_lanes else 0, False)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._emit(expr, row, vector)
        return found

    def _emit(self, expr: PrimExpr, row: int, vector: int) -> str:
        lanes = self.tiling.lanes if self.uses(expr)[1] else 1
        code, scalar = self.state.code, self._scalar(expr)
        if expr in self.sources:
            return self._load(expr, row, vector, lanes)
        match expr:
            case FloatImm() | IntImm():
                return number_literal(expr, scalar)
            case Cast(value=value):
                inner = self._value(value, row, vector)
                return converted(code, inner, (self._scalar(value), scalar), lanes)
            case Binary(op=op, a=a, b=b):
                take = self.vector if lanes > 1 else self._value
                return combine(code, op, (take(a, row, vector), take(b, row, vector)), scalar, lanes)
            case _:
                raise AssertionError(f"{type(expr).__name__} is refused where the tiling is planned")

    def _load(self, expr: PrimExpr, row: int, vector: int, lanes: int) -> str:
        code, source = self.state.code, self.sources[expr]
        scalar = source.storage.scalar
        stride, step = source.offset.of(self.tiling.columns.var), source.offset.of(self.tiling.rows.var)
        first = at_distance(code, self.pointers[expr], scalar.memory, row * step + vector * self.tiling.lanes * stride)
        active = lanes if source.is_whole else self.part.active(vector, lanes)
        if lanes == 1:
            value = code.emit(f"load {scalar.memory}, ptr {first}, align {scalar.size_bytes}")
        else:
            value = load_apart(code, first, scalar, (lanes, active), stride)
        return widened(code, value, scalar, lanes)
