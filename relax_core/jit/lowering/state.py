"""What the lowering of one prim func carries along: values, buffers, facts, sites and the code so far.

Statements hold expressions, and a call among them is lowered by the statements of what it calls: `State` declares both
ways, which `lower.py` implements.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.analysis.tir_memory import Memory
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.ir.attrs import attr
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import SCALAR_SLOTS, Buffer, BufferLoad, BufferStore, For, PrimFunc, Stmt
from relax_core.jit.compilation.pipelines import Form
from relax_core.jit.lowering.calls.host_calls import PackedCall
from relax_core.jit.lowering.checks import Locate, Site, unknown_dtype
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.memory.storage import Held, Inlined, LaneElement, LoopLabels, Pointer, Storage, Visible
from relax_core.jit.lowering.scalars.lanes import Lanes
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.remarks import KernelRemark
from relax_core.jit.transforms.loop_nest import Nest

# The record that every kernel gets: fuel, the number of the site that stopped it or the bits of the value that it
# returns, and the values that the site records.
FUEL_OFFSET = 0
SITE_OFFSET = 8
VALUES_OFFSET = 16
# Of longer code the arrays of what is in no register would not fit a thread's stack, and LLVM would take minutes.
LARGEST_CODE = 100_000


# An access to a buffer: the dimension and the index there.
AccessKey: TypeAlias = tuple[Buffer, int, PrimExpr]


@dataclass(slots=True)
class State(ABC):
    """The lowering's state at the place where it stands.

    `loops` are those around the place, the innermost last; `result` is the type of what the prim func returns.
    `functions` are those that may be called, by name; `inlined` are the calls around the place, the innermost last.
    `packed_calls` are the calls of packed functions.
    `outputs` are the positions of the parameters that hold no values at the start, `None` for all that are written.
    `written` are the bytes that tell which elements of a buffer were written, where that is asked for.
    `stack_bytes` is how much of the stack transformations took for copies of operands.
    `parts` are the bodies of functions that run chunks of a loop.
    `nests` are those that were read for the loop at this place, by it and by how it may start.
    `contracted` are allocated buffers that need no memory, as their values are computed where they are read; `origin`
    gives the statements of the text that ones made by transformations stand for, and `statement_of` the one that
    computed what a variable in an expression stands for.
    With `is_counting` integers are counts, and the kernel stops where one would wrap around.
    `is_cancelled` is asked at every statement whether the lowering is still wanted.
    `is_deoptimised` tells that the loops here run only after a check ahead has failed: their speed does not matter.
    `assumed` are indices that were checked ahead; each with whether that holds where no condition around it does.
    `held` are buffers of which the loops at this place touch one element only, which is kept beside.
    `counting` is the loop that the loops which a transformation writes stem from.
    `forms` are what the innermost loops are that were emitted as the program has them.
    `lane_elements` are the elements that the lanes of a vector statement accessed so far, `None` outside of one.
    """

    bounds: Bounds
    locate: Locate
    function: PrimFunc
    code: FunctionBuilder = field(default_factory=FunctionBuilder)
    registers: dict[PrimVar, str] = field(default_factory=dict[PrimVar, str])
    storage: dict[Buffer, Storage] = field(default_factory=dict[Buffer, Storage])
    visible: list[Visible] = field(default_factory=list[Visible])
    sites: list[Site] = field(default_factory=list[Site])
    checked: list[Node] = field(default_factory=list[Node])
    active: list[PrimVar] = field(default_factory=list[PrimVar])
    loops: list[LoopLabels] = field(default_factory=list[LoopLabels])
    result: ScalarType | None = None
    is_charged: bool = False
    is_counting: bool = False
    is_deoptimised: bool = False
    memory: Memory = field(default_factory=Memory)
    vectors: dict[PrimVar, tuple[PrimVar, ...]] = field(default_factory=dict[PrimVar, tuple[PrimVar, ...]])
    lane_buffers: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    matched: set[PrimVar] = field(default_factory=set[PrimVar])
    pointers: dict[PrimVar, Pointer] = field(default_factory=dict[PrimVar, Pointer])
    functions: Mapping[str, PrimFunc] = field(default_factory=dict[str, PrimFunc])
    outputs: frozenset[int] | None = None
    written: dict[Buffer, Storage] = field(default_factory=dict[Buffer, Storage])
    contracted: set[Buffer] = field(default_factory=set[Buffer])
    origin: dict[Node, Node] = field(default_factory=dict[Node, Node])
    statement_of: dict[PrimVar, Node] = field(default_factory=dict[PrimVar, Node])
    assumed: dict[AccessKey, bool] = field(default_factory=dict[AccessKey, bool])
    lane_elements: dict[object, LaneElement] | None = None
    held: dict[Buffer, Held] = field(default_factory=dict[Buffer, Held])
    counting: For | None = None
    vector_count: int = 0
    forms: set[Form] = field(default_factory=set[Form])
    packed_calls: list[PackedCall] = field(default_factory=list[PackedCall])
    inlined: list[Inlined] = field(default_factory=list[Inlined])
    options: KernelOptions = DEFAULT_OPTIONS
    is_cancelled: Callable[[], bool] = lambda: False
    remarks: list[KernelRemark] = field(default_factory=list[KernelRemark])
    stack_bytes: int = 0
    parts: list[str] = field(default_factory=list[str])
    nests: dict[tuple[For, bool], Nest | str] = field(default_factory=dict[tuple[For, bool], "Nest | str"])

    @abstractmethod
    def lower_stmt(self, stmt: Stmt) -> None:
        """Emit a statement of the program, or one that a transformation made."""

    @abstractmethod
    def lower_call(self, expr: Intrinsic) -> str:
        """Emit a call of a prim func or of a packed function; return the register of its result."""

    def check_budget(self, node: Node) -> None:
        """End the lowering where it is no longer wanted, or where it made more code than is compiled in a few seconds.

        Raises:
            RunError: JT014, it was cancelled.
            CompileError: JT016, it became too large: what is called several times is written out for each call.
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
        """What takes vectors apart at this place."""
        return Lanes(self.vectors, self.lane_buffers)

    def storage_of(self, buffer: Buffer) -> Storage | None:
        """Return where a buffer lies, of vectors where their scalars lie; `None` if it is not declared."""
        return self.storage.get(self.lane_buffers.get(buffer, buffer))

    def scalar_of(self, expr: PrimExpr | Buffer) -> ScalarType:
        """Return the scalar type of an expression or of a buffer's elements."""
        dtype = expr.dtype if isinstance(expr, Buffer) else dtype_of(expr)
        scalar = SCALAR_TYPES.get(dtype)
        if scalar is None:
            raise unknown_dtype(dtype, expr, self.locate)
        return scalar

    def is_in_range(self, access: BufferLoad | BufferStore, position: int) -> bool:
        """Tell whether an index of an access is proven to be in range, or was checked ahead."""
        index = access.indices[position]
        return (access.buffer, position, index) in self.assumed or self.bounds.is_in_range(
            access.buffer, position, index
        )

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

    def bind(self, var: PrimVar, value: PrimExpr, register: str) -> None:
        """Give a variable the register in which `value` is; `forget` ends its scope."""
        self.bounds.bind_let(var, value)
        self.define(var, register)

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
        for item in self.held.values():
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
    """Tell whether a prim func computes nothing but dimensions and symbols, in slots of 64 bits, for VMShapeLower."""
    return attr(function.attrs, "tirx.is_host_func") is True


def stores_size(function: PrimFunc, store: BufferStore) -> bool:
    """Tell whether a store of a prim func gives a slot of the shape heap a dimension, and no scalar."""
    if not is_host_function(function):
        return False
    scalars = attr(function.attrs, SCALAR_SLOTS)
    slot = constant_value(store.indices[0]) if len(store.indices) == 1 else None
    return not (isinstance(scalars, tuple) and slot in scalars)


def _is_register(value: str) -> bool:
    return value.startswith("%")
