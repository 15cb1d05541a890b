"""The state of lowering one prim func: scopes, bounds, sites and the code so far.

Statements hold expressions, and a call in an expression is lowered by inlining statements: `State` declares both
entry points, so that no file imports the other; `lower.py` implements them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.ir.attrs import attr
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import SCALAR_SLOTS, Buffer, BufferLoad, BufferStore, PrimFunc, Stmt
from relax_core.jit.lowering.checks import Locate, Site, unknown_dtype
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.environment import Emitted, Environment, Position, Provenance
from relax_core.jit.lowering.memory.storage import Storage, Visible
from relax_core.jit.lowering.scalars.lanes import Lanes
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions

# The record that every kernel gets: at its start fuel, then the number of the site that stopped it or the bits of the
# value that it returns, and the values that the site records.
SITE_OFFSET = 8
VALUES_OFFSET = 16
# Spills of longer code would not fit a thread's stack, and LLVM would take minutes.
LARGEST_CODE = 100_000


@dataclass(slots=True)
class State(ABC):
    """The state of the lowering at its current position.

    `result` is the type of what the prim func returns. `functions` are those that may be called, by name; `outputs` are
    the positions of the parameters that hold no values at the start, `None` for all that are written. `is_cancelled` is
    asked at every statement whether the lowering is still wanted.
    """

    bounds: Bounds
    locate: Locate
    function: PrimFunc
    code: FunctionBuilder = field(default_factory=FunctionBuilder)
    result: ScalarType | None = None
    functions: Mapping[str, PrimFunc] = field(default_factory=dict[str, PrimFunc])
    outputs: frozenset[int] | None = None
    options: KernelOptions = DEFAULT_OPTIONS
    is_cancelled: Callable[[], bool] = lambda: False
    emitted: Emitted = field(default_factory=Emitted)
    environment: Environment = field(default_factory=Environment)
    position: Position = field(default_factory=Position)
    provenance: Provenance = field(default_factory=Provenance)
    leaf_work: dict[Stmt, int | None] = field(default_factory=dict[Stmt, int | None])
    """What `known.work` has estimated of statements without statements in them: every loop around them asks."""

    @abstractmethod
    def lower_stmt(self, stmt: Stmt) -> None:
        """Emit a statement of the program, or one that a transformation made."""

    @abstractmethod
    def lower_call(self, expr: Intrinsic) -> str:
        """Emit a call of a prim func or of a packed function; return the register of its result."""

    def check_budget(self, node: Node) -> None:
        """Raise if the lowering was cancelled, or has emitted more code than LLVM compiles in a few seconds.

        Raises:
            RunError: JT014, it was cancelled.
            CompileError: JT016, it became too large: a function is inlined at each of its calls.
        """
        if self.is_cancelled():
            message = "Cancelled while the kernel was compiled"
            raise RunError((Diagnostic("JT014", message, self.locate(node)),))
        if self.code.size > LARGEST_CODE:
            message = f"The machine code of this prim func would take more than {LARGEST_CODE} instructions"
            hint = "Write loops in the place of repeated statements, or make several prim funcs of it."
            raise CompileError((Diagnostic("JT016", message, self.locate(node), hint),))

    @property
    def lanes(self) -> Lanes:
        """Lowers vector expressions lane by lane, in the current scope."""
        return Lanes(self.environment.vectors, self.environment.lane_buffers)

    def storage_of(self, buffer: Buffer) -> Storage | None:
        """Return the storage of a buffer, of one of vectors that of their scalars; `None` if it is not declared."""
        return self.environment.storage.get(self.environment.lane_buffers.get(buffer, buffer))

    def scalar_of(self, expr: PrimExpr | Buffer) -> ScalarType:
        """Return the scalar type of an expression or of a buffer's elements."""
        dtype = expr.dtype if isinstance(expr, Buffer) else dtype_of(expr)
        scalar = SCALAR_TYPES.get(dtype)
        if scalar is None:
            raise unknown_dtype(dtype, expr, self.locate)
        return scalar

    def is_in_range(self, access: BufferLoad | BufferStore, position: int) -> bool:
        """Tell whether an index of an access is proven in bounds, or a guard has checked it."""
        index = access.indices[position]
        return (access.buffer, position, index) in self.position.assumed or self.bounds.is_in_range(
            access.buffer, position, index
        )

    def widen(self, register: str, scalar: ScalarType) -> str:
        """Sign- or zero-extend an integer to 64 bits."""
        if scalar.bits == 64 or not _is_register(register):
            return register
        how = "sext" if scalar.kind == "int" else "zext"
        return self.code.emit(f"{how} {scalar.register} {register} to i64")

    def define(self, var: PrimVar, register: str) -> None:
        """Give a loop, block or let variable its register; `forget` ends its scope.

        A diagnostic shows it by its name if it is an integer.
        """
        if var in self.environment.active:
            message = f"A definition of `{var.name}` inside the scope of the same variable cannot be compiled"
            raise CompileError((Diagnostic("JT001", message, self.locate(var), "Rename one of them."),))
        self.environment.active.append(var)
        self.environment.registers[var] = register
        scalar = self.scalar_of(var)
        is_shown = scalar.kind in ("int", "uint")
        self.environment.visible.append(
            Visible(var.name, self.widen(register, scalar)) if is_shown else Visible("", "0")
        )

    def bind(self, var: PrimVar, value: PrimExpr, register: str) -> None:
        """Give a variable the register in which `value` is; `forget` ends its scope."""
        self.bounds.bind_let(var, value)
        self.define(var, register)

    def forget(self, count: int = 1) -> None:
        """End the scopes of the `count` variables that were defined last."""
        del self.environment.active[len(self.environment.active) - count :]
        del self.environment.visible[len(self.environment.visible) - count :]

    def site(self, site: Site, operands: Sequence[str]) -> str:
        """Make the cold block in which the kernel records `site` and stops; `operands` are 64-bit registers."""
        recorded = (*site.recorded, *(item.name for item in self.environment.visible))
        number = len(self.emitted.sites)
        self.emitted.sites.append(Site(site.kind, site.node, recorded, site.dimension, site.hint))
        label = self.code.label("stop")
        lines = [f"store i64 {number}, ptr %site"]
        for position, value in enumerate((*operands, *(item.register for item in self.environment.visible))):
            lines.append(f"%{label}.{position} = getelementptr i8, ptr %values, i64 {8 * position}")
            lines.append(f"store i64 {value}, ptr %{label}.{position}")
        for item in self.environment.held.values():
            kept, memory = f"%{self.code.label('kept')}", item.storage.scalar.memory
            lines.append(f"{kept} = load {memory}, ptr {item.slot}, align {item.storage.alignment}")
            lines.append(f"store {memory} {kept}, ptr {item.pointer}, align {item.storage.alignment}")
        self.code.cold(label, [*lines, "ret i32 1"])
        return label

    def require(self, condition: str, site: Site, operands: Sequence[str] = ()) -> None:
        """Go on if `condition` holds, else stop the kernel at `site`."""
        before = self.code.set_location(site.node, is_check=site.kind != "fuel")
        stop = self.site(site, operands)
        go_on = self.code.label("ok")
        self.code.branch(condition, go_on, stop, expects_true=True)
        self.code.start(go_on)
        self.code.restore_location(before)


def is_host_function(function: PrimFunc) -> bool:
    """Tell whether a prim func is one of VMShapeLower, which computes dimensions in 64-bit slots of the shape heap."""
    return attr(function.attrs, "tirx.is_host_func") is True


def stores_size(function: PrimFunc, store: BufferStore) -> bool:
    """Tell whether a store writes a dimension to the shape heap, not a scalar, which wraps around in its dtype."""
    if not is_host_function(function):
        return False
    scalars = attr(function.attrs, SCALAR_SLOTS)
    slot = constant_value(store.indices[0]) if len(store.indices) == 1 else None
    return not (isinstance(scalars, tuple) and slot in scalars)


def _is_register(value: str) -> bool:
    return value.startswith("%")
