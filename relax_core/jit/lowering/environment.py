"""The state of lowering a prim func: what was emitted, what is in scope, and the current position."""

from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.analysis.tir_memory import Memory
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, For
from relax_core.jit.compilation.pipelines import Form
from relax_core.jit.lowering.calls.host_calls import PackedCall
from relax_core.jit.lowering.checks import Site
from relax_core.jit.lowering.memory.storage import Held, Inlined, LaneElement, LoopLabels, Pointer, Storage, Visible
from relax_core.jit.remarks import KernelRemark, PlannedStep
from relax_core.jit.transforms.loop_nest import Nest

# An access to a buffer: the dimension and the index there.
AccessKey: TypeAlias = tuple[Buffer, int, PrimExpr]


@dataclass(slots=True)
class Emitted:
    """What was emitted besides instructions.

    `sites` are the places where the kernel may stop, `checked` the nodes that are checked while it runs.
    `packed_calls` are the calls of packed functions, by number; `parts` the bodies of functions that run chunks of a
    loop. `forms` says what the innermost loops are that were emitted as the program has them, `vector_count` how many
    explicit vectors there are. `stack_bytes` is how much of the stack transformations took for copies of operands.
    `plans` are those of the transformations, `None` if nobody wants to read them.
    """

    sites: list[Site] = field(default_factory=list[Site])
    checked: list[Node] = field(default_factory=list[Node])
    remarks: list[KernelRemark] = field(default_factory=list[KernelRemark])
    packed_calls: list[PackedCall] = field(default_factory=list[PackedCall])
    parts: list[str] = field(default_factory=list[str])
    forms: set[Form] = field(default_factory=set[Form])
    vector_count: int = 0
    stack_bytes: int = 0
    plans: list[PlannedStep] | None = None


@dataclass(slots=True)
class Environment:
    """What the variables and buffers in scope are lowered to.

    `active` are the variables in scope, `visible` how a diagnostic shows them. `lane_buffers` and `vectors` tell where
    the lanes of vectors lie. `written` are the bytes that tell which elements of a buffer were written, where that is
    asked for. `held` are buffers of which the loops at this place touch one element only, which is kept beside.
    `contracted` are allocated buffers that need no memory, as their values are computed where they are read.
    """

    registers: dict[PrimVar, str] = field(default_factory=dict[PrimVar, str])
    storage: dict[Buffer, Storage] = field(default_factory=dict[Buffer, Storage])
    pointers: dict[PrimVar, Pointer] = field(default_factory=dict[PrimVar, Pointer])
    vectors: dict[PrimVar, tuple[PrimVar, ...]] = field(default_factory=dict[PrimVar, tuple[PrimVar, ...]])
    lane_buffers: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    matched: set[PrimVar] = field(default_factory=set[PrimVar])
    memory: Memory = field(default_factory=Memory)
    written: dict[Buffer, Storage] = field(default_factory=dict[Buffer, Storage])
    held: dict[Buffer, Held] = field(default_factory=dict[Buffer, Held])
    active: list[PrimVar] = field(default_factory=list[PrimVar])
    visible: list[Visible] = field(default_factory=list[Visible])
    contracted: set[Buffer] = field(default_factory=set[Buffer])


@dataclass(slots=True)
class Position:
    """The current position in the prim func.

    `loops` are those around the place and `inlined` the calls, the innermost last. With `is_counting` integers are
    counts, and the kernel stops where one would wrap around. `is_deoptimised` tells that the loops here run only
    after a check ahead has failed: their speed does not matter. `covered` is a register that tells whether a loop
    around has paid for all that is here, which depends on sizes; empty if none may have. `counting` is the loop
    that the loops which a transformation writes stem from. `lane_elements` are the elements that the lanes of a
    vector statement accessed so far, `None` outside of one. `assumed` are indices that were checked ahead; each
    with whether that holds where no condition around it does. `nests` are those that were read for the loop at this
    place, by it and by how it may start.
    """

    loops: list[LoopLabels] = field(default_factory=list[LoopLabels])
    inlined: list[Inlined] = field(default_factory=list[Inlined])
    is_charged: bool = False
    covered: str = ""
    is_counting: bool = False
    is_deoptimised: bool = False
    counting: For | None = None
    lane_elements: dict[object, LaneElement] | None = None
    assumed: dict[AccessKey, bool] = field(default_factory=dict[AccessKey, bool])
    nests: dict[tuple[For, bool], Nest | str] = field(default_factory=dict[tuple[For, bool], "Nest | str"])


@dataclass(slots=True)
class Provenance:
    """The provenance of statements that transformations made.

    `origin` gives them by what was made; `statement_of` gives the statement that computed what a variable in an
    expression stands for.
    """

    origin: dict[Node, Node] = field(default_factory=dict[Node, Node])
    statement_of: dict[PrimVar, Node] = field(default_factory=dict[PrimVar, Node])
