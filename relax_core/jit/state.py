"""What the lowering of one prim func carries along: values, buffers, facts, sites and the code so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Buffer
from relax_core.jit.bounds import Bounds
from relax_core.jit.checks import Locate, Site, unknown_dtype
from relax_core.jit.code import Code
from relax_core.jit.types import SCALAR_TYPES, ScalarType

# The error record that every kernel gets: fuel, the number of the site that stopped it, and its values.
FUEL_OFFSET = 0
SITE_OFFSET = 8
VALUES_OFFSET = 16


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a buffer lies while the kernel runs: registers of its address, extents and strides in elements."""

    pointer: str
    extents: tuple[str, ...]
    strides: tuple[str, ...]
    scalar: ScalarType


@dataclass(frozen=True, slots=True)
class Visible:
    """A loop or block variable that a diagnostic shows, in a 64-bit register."""

    name: str
    register: str


@dataclass(slots=True)
class State:
    """The lowering's state at the place where it stands."""

    bounds: Bounds
    locate: Locate
    code: Code = field(default_factory=Code)
    registers: dict[PrimVar, str] = field(default_factory=dict[PrimVar, str])
    storage: dict[Buffer, Storage] = field(default_factory=dict[Buffer, Storage])
    visible: list[Visible] = field(default_factory=list[Visible])
    sites: list[Site] = field(default_factory=list[Site])
    checked: list[Node] = field(default_factory=list[Node])
    active: list[PrimVar] = field(default_factory=list[PrimVar])
    is_prepaid: bool = False

    def scalar_of(self, expr: PrimExpr | Buffer) -> ScalarType:
        """Return the scalar type of an expression or of a buffer's elements."""
        dtype = expr.dtype if isinstance(expr, Buffer) else dtype_of(expr)
        scalar = SCALAR_TYPES.get(dtype)
        if scalar is None:
            raise unknown_dtype(dtype, expr, self.locate)
        return scalar

    def widen(self, register: str, scalar: ScalarType) -> str:
        """Bring an integer to 64 bits."""
        if scalar.bits == 64 or not _is_register(register):
            return register
        how = "sext" if scalar.kind == "int" else "zext"
        return self.code.emit(f"{how} {scalar.register} {register} to i64")

    def define(self, var: PrimVar, register: str) -> None:
        """Give a loop, block or let variable its register; `forget` ends its scope.

        A diagnostic shows it by its name if it is an integer.
        """
        if var in self.active:
            message = f"A definition of `{var.name}` inside the scope of the same variable cannot be compiled"
            raise CompileError((Diagnostic("JT001", message, self.locate(var), "Rename one of them."),))
        self.active.append(var)
        self.registers[var] = register
        scalar = self.scalar_of(var)
        is_shown = scalar.kind in ("int", "uint")
        self.visible.append(Visible(var.name, self.widen(register, scalar)) if is_shown else Visible("", "0"))

    def forget(self, count: int = 1) -> None:
        """End the scopes of the `count` variables that were defined last."""
        del self.active[len(self.active) - count :]
        del self.visible[len(self.visible) - count :]

    def site(self, site: Site, operands: Sequence[str]) -> str:
        """Make the cold block in which the kernel records `site` and stops; `operands` are 64-bit registers."""
        recorded = (*site.recorded, *(item.name for item in self.visible))
        number = len(self.sites)
        self.sites.append(Site(site.kind, site.node, recorded, site.dimension, site.hint))
        label = self.code.label("stop")
        lines = [f"store i64 {number}, ptr %site"]
        for position, value in enumerate((*operands, *(item.register for item in self.visible))):
            lines.append(f"%{label}.{position} = getelementptr i8, ptr %values, i64 {8 * position}")
            lines.append(f"store i64 {value}, ptr %{label}.{position}")
        self.code.cold(label, [*lines, "ret i32 1"])
        return label

    def require(self, condition: str, site: Site, operands: Sequence[str] = ()) -> None:
        """Go on if `condition` holds, else stop the kernel at `site`."""
        stop = self.site(site, operands)
        go_on = self.code.label("ok")
        self.code.branch(condition, go_on, stop, expects_true=True)
        self.code.start(go_on)


def _is_register(value: str) -> bool:
    return value.startswith("%")
