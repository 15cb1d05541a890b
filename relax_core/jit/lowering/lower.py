"""Lower a prim func to LLVM IR as text, specialised to the sizes of its symbols or for any sizes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from relax_core.analysis.serial_threads import as_loop, as_loops, hindrance
from relax_core.analysis.tir_memory import DERIVED
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.integer.bounds import LARGEST_PRODUCT, Bounds
from relax_core.ir.intrinsics import UNKNOWN_POINTER
from relax_core.ir.node import Node, children, postorder, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, binary, dtype_of, lanes_of
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRealize,
    BufferRef,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LaunchThread,
    LetStmt,
    MatchRegion,
    PrimFunc,
    SeqStmt,
    Stmt,
    TirStmt,
    While,
    statements,
)
from relax_core.jit.compilation.debug_lines import Origin
from relax_core.jit.compilation.pipelines import PIPELINES, Form, Pipeline, form_of_tiles, pipeline_of
from relax_core.jit.lowering.calls.host_calls import PackedCall
from relax_core.jit.lowering.calls.packed_calls import call_packed
from relax_core.jit.lowering.calls.prim_calls import call_prim_func, called_functions
from relax_core.jit.lowering.checks import Locate, Site, unsupported
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.frame import declare_buffers, enclose
from relax_core.jit.lowering.jumps import lower_jump, result_type
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.loops import lower_for, lower_while
from relax_core.jit.lowering.memory.views import declare_view, match_region, pointer_of
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.scalars.vectors import bind_vector, lanes_of_value, lower_store
from relax_core.jit.lowering.state import State, stores_size
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.remarks import KernelRemark, PlannedStep
from relax_core.jit.transforms.loops.fuse import fuse
from relax_core.jit.transforms.registry import emit_transformed

DEPTH_LIMIT = 200
SIZE_LIMIT = 200_000
# Each loop is examined as a whole, with all that is in it: of more nodes than this, several times each, no lowering
# would end in time, and of more than that there is no looking for transformations.
LARGEST_NEST = 1_000_000
MOST_NODES = 40_000
# Nodes times terms of their values, as polynomials, that are computed with in about a second.
MOST_TERMS = 1_000_000
# In plain code a kernel of so few nanoseconds' work runs a hundred times before good code of it is made.
BRIEF_WORK = 1 << 15
NO_FUNCTIONS: Mapping[str, PrimFunc] = MappingProxyType({})
BOOL = SCALAR_TYPES["bool"]


# Attributes that change what their body computes; any other only tells a code generator how.
MEANINGFUL = frozenset(
    (
        "thread_extent",
        "virtual_thread",
        "reduce_scope",
        "buffer_bind_scope",
        "coproc_scope",
        "coproc_uop_scope",
        "async_scope",
        "async_commit_queue_scope",
        "async_wait_queue_scope",
        "async_wait_inflight_count",
    )
)


def has_empty_loop(state: State, loop: For) -> bool:
    """Tell whether `loop` or one in it is known to have no iterations."""
    counts = (state.bounds.constant(item.extent) for item in statements(loop) if isinstance(item, For))
    return any(count is not None and count <= 0 for count in counts)


def without_iterations(state: State, loop: For) -> Stmt | None:
    """Return the statement to execute if `loop` has no iterations, `None` if there is none.

    The initialisation of a block stands for its value before the reduction, so a block that reduces over `loop` and
    never runs still stores it: a sum of nothing is 0, a product 1. As written it belongs to the first iteration.
    """
    if state.bounds.interval(loop.extent).low > 0:
        return None
    start = started(loop.body, loop)
    if start is None:
        return None
    written = frozenset(postorder(loop))
    for item in postorder(start):
        if isinstance(item, Stmt) and item not in written:
            state.provenance.origin.setdefault(item, state.provenance.origin.get(loop, loop))
    if state.bounds.constant(loop.extent) is not None:
        return start
    return IfThenElse(binary("<=", loop.extent, IntImm(0, dtype_of(loop.extent))), start, None, span=loop.span)


def started(stmt: Stmt, loop: For) -> Stmt | None:
    """Return `stmt` reduced to the initialisations of the blocks that reduce over `loop`."""
    match stmt:
        case For(body=body, var=var):
            inner = started(body, loop)
            # Around the initialisation alone, a loop over another axis of the reduction would only repeat it.
            return inner if inner is None or not _mentions(inner, {var}) else replace(stmt, body=inner)
        case SeqStmt(stmts=stmts):
            parts = tuple(part for item in stmts if (part := started(item, loop)) is not None)
            return None if not parts else parts[0] if len(parts) == 1 else replace(stmt, stmts=parts)
        case Block(init=Stmt()):
            return _initialisation(stmt, loop)
        case Block(init=None, body=body):
            inner = started(body, loop)
            return None if inner is None else replace(stmt, body=inner)
        case _:
            return None


def _initialisation(block: Block, loop: For) -> Block | None:
    """Return the block with its initialisation as body, without the reduction variables, which have no value."""
    reduced = [item for item in block.iter_vars if item.kind == "reduce"]
    kept = tuple(item for item in block.iter_vars if item.kind != "reduce")
    if block.init is None or not any(_mentions(item.binding, {loop.var}) for item in reduced):
        return None
    if any(_mentions(item.binding, {loop.var}) for item in kept):
        return None
    of_reduction = {part for item in reduced for part in postorder(item.binding) if isinstance(part, PrimVar)}
    conditions = (item for item in _conjuncts(block.predicate) if not _mentions(item, of_reduction))
    return replace(block, iter_vars=kept, init=None, body=block.init, predicate=_all(conditions))


def _all(conditions: Iterable[PrimExpr]) -> PrimExpr | None:
    found: PrimExpr | None = None
    for item in conditions:
        found = item if found is None else binary("and", found, item)
    return found


def _conjuncts(predicate: PrimExpr | None) -> list[PrimExpr]:
    match predicate:
        case None:
            return []
        case Binary(op="and", a=a, b=b):
            return [*_conjuncts(a), *_conjuncts(b)]
        case _:
            return [predicate]


def _mentions(node: Node, variables: Collection[PrimVar]) -> bool:
    return any(isinstance(part, PrimVar) and part in variables for part in postorder(node))


def enter(state: State, stmt: AttrStmt | Allocate | DeclBuffer | BufferRealize) -> Stmt:
    """Emit the declaration that a statement makes, and return its body.

    Allocated buffers have got their memory in the prologue.
    """
    match stmt:
        case AttrStmt(key=key) if key in MEANINGFUL:
            hint = "It is for a code generator; leave it out to run the kernel here."
            raise unsupported(f"The attribute `{key}`", stmt, state.locate, hint)
        case Allocate(condition=condition):
            _check_always(state, "`T.allocate`", condition, stmt)
        case BufferRealize(condition=condition):
            _check_always(state, "`T.realize`", condition, stmt)
        case DeclBuffer(buffer=buffer, pointer=Intrinsic(name=name)) if name == UNKNOWN_POINTER:
            if not _is_accessed(buffer, stmt.body):
                # TVM's lowering leaves some that only an annotation names.
                return stmt.body
            hint = "Say whose it is, T.decl_buffer(shape, data=A.data), or that it has its own: T.alloc_buffer(shape)."
            raise unsupported(f"The buffer `{buffer.name}`, whose memory is not known,", stmt, state.locate, hint)
        case DeclBuffer(buffer=buffer, pointer=PrimExpr() as pointer):
            declare_view(state, buffer, pointer_of(state, pointer), stmt)
        case AttrStmt() | DeclBuffer():
            pass
    return stmt.body


def _is_accessed(buffer: Buffer, body: Stmt) -> bool:
    """Tell whether something loads from a buffer, stores to it, or takes its address."""
    return any(
        (isinstance(node, BufferLoad | BufferStore | BufferRef) and node.buffer is buffer)
        or (isinstance(node, MatchRegion) and node.region.buffer is buffer)
        for node in preorder(body)
    )


def _check_always(state: State, name: str, condition: PrimExpr | None, stmt: Stmt) -> None:
    """Refuse a conditional allocation whose condition is not a literal."""
    if condition is not None and not (isinstance(condition, IntImm) and condition.value):
        raise unsupported(f"{name} under a condition", stmt, state.locate, "Put it under an `if`.")


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """The LLVM IR of a prim func and what is needed to run it.

    `text` has comments for readers; `sites` are the places where it may stop, by number; `workspace` are the
    buffers that the caller allocates; `checked` are the accesses that are checked at run time; `result` is the type
    of the value that the prim func returns, if it returns one; `packed_calls` are those of packed functions, by number;
    `remarks` tell which transformations were applied and which were refused; `places` are the origins that the marks
    of `debug_lines` number; `work` estimates for how many nanoseconds it runs, `None` if that depends on values;
    `pipeline` is how LLVM optimises it; with `has_chunks` there are loops whose chunks several threads may run.
    `plans` are those of the transformations, if they were asked for, as rewritings of `function`.
    """

    text: str
    sites: tuple[Site, ...]
    workspace: tuple[Buffer, ...]
    checked: tuple[Node, ...]
    result: ScalarType | None = None
    packed_calls: tuple[PackedCall, ...] = ()
    pipeline: Pipeline = "loops"
    remarks: tuple[KernelRemark, ...] = ()
    places: tuple[Origin, ...] = ()
    work: int | None = None
    has_chunks: bool = False
    function: PrimFunc | None = None
    plans: tuple[PlannedStep, ...] = ()

    @property
    def value_count(self) -> int:
        """The greatest number of integers that a site records."""
        return max((len(site.recorded) for site in self.sites), default=0)


class _Lowering(State):
    """The implementation of `State`: dispatches on statements, and lowers calls."""

    __slots__ = ()

    def lower_stmt(self, stmt: Stmt) -> None:
        """Emit a statement; its declarations and assumptions go out of scope behind it."""
        self.check_budget(stmt)
        mark = self.bounds.mark()
        before = self.code.set_location(stmt)
        match cast("TirStmt", stmt):
            case SeqStmt(stmts=stmts):
                for item in fuse(self, stmts):
                    self.lower_stmt(item)
                    if isinstance(item, AssertStmt):
                        self.bounds.assume(item.condition)
            case BufferStore() as store:
                self.position.is_counting = stores_size(self.function, store)
                lower_store(self, store)
            case For() as loop:
                start = without_iterations(self, loop)
                if start is not None:
                    self.lower_stmt(start)
                if has_empty_loop(self, loop) or not emit_transformed(self, loop):
                    lower_for(self, loop)
            case Block() as block:
                _block(self, block)
            case IfThenElse() as chosen:
                _conditional(self, chosen)
            case LetStmt(var=var, value=value, body=body):
                count = _let(self, var, value)
                self.lower_stmt(body)
                self.forget(count)
            case While() as loop:
                lower_while(self, loop)
            case AssertStmt(condition=condition, message=message) as check:
                site = Site("assert", check, hint=message or show_prim(condition))
                self.require(_truth(self, condition), site)
            case Evaluate() as evaluated:
                _evaluate(self, evaluated)
            case LaunchThread() | AttrStmt() | Allocate() | DeclBuffer() | BufferRealize() as scoped:
                self.lower_stmt(as_loop(scoped) if isinstance(scoped, LaunchThread) else enter(self, scoped))
        self.code.restore_location(before)
        self.bounds.leave(mark)

    def lower_call(self, expr: Intrinsic) -> str:
        """Emit a call of a prim func or of a packed function; return the register of its result."""
        return call_prim_func(self, expr) if expr.name == "global" else call_packed(self, expr)


def lower(
    function: PrimFunc,
    sizes: Mapping[PrimVar, int] | None,
    locate: Locate,
    functions: Mapping[str, PrimFunc] = NO_FUNCTIONS,
    options: KernelOptions = DEFAULT_OPTIONS,
    *,
    are_distinct: bool,
    has_origins: bool = False,
    has_plans: bool = False,
    outputs: frozenset[int] | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Lowered:
    """Lower `function` for the values `sizes` of its symbols, or for any values if that is `None`.

    With `are_distinct` the buffers are taken not to overlap. Symbols are those of `shape_symbols`, in that order.
    `functions` are the prim funcs that it may call, by name; `outputs` are the positions of the arguments that hold no
    values at the start, all that are written if that is `None`. With `has_origins` the text is marked with the
    statements that its instructions stem from, with `has_plans` transformations tell their plans.

    Raises:
        CompileError: JT001, JT002, JT016, JT017, JT023 or JT024 for what cannot be compiled.
        RunError: JT014, `is_cancelled` told so while it was lowered.
    """
    function = as_loops(function)
    called = called_functions(function, functions)
    for item in (function, *called):
        _check_threads(item, locate)
    size = sum(_check_size(item, locate) for item in (function, *called))
    # Transformations move loads across stores, which is sound only if buffers do not alias.
    if not are_distinct or options.finds_uninitialised or size > MOST_NODES:
        options = replace(options, is_transformed=False)
    bounds = Bounds(sizes or {}, largest_product=max(min(MOST_TERMS // size, LARGEST_PRODUCT), 1))
    state = _Lowering(bounds, locate, function, functions=functions, options=options)
    if _is_brief(state):
        state.options = replace(options, is_transformed=False)
    state.is_cancelled = is_cancelled
    state.code = FunctionBuilder(has_origins=has_origins)
    state.code.set_location(function)
    state.emitted.plans = [] if has_plans else None
    state.outputs = outputs
    _declare_scalars(state, function, has_sizes=sizes is not None)
    workspace = declare_buffers(state, function, called)
    state.result = result_type(state, function)
    state.lower_stmt(function.body)
    state.code.set_location(function)
    state.code.do("ret i32 0")
    state.check_budget(function)
    text = enclose(state, function, workspace, are_distinct=are_distinct)
    return _lowered(state, text, tuple(buffer for buffer in workspace if buffer not in state.environment.contracted))


def _is_brief(state: State) -> bool:
    """Tell whether a kernel is compiled as quickly as that goes."""
    if not state.options.is_brief or state.options.mode == "fast":
        return False
    work = static_work(state, state.function.body)
    return work is not None and work <= BRIEF_WORK


def _check_threads(function: PrimFunc, locate: Locate) -> None:
    """Refuse a function whose thread-bound loops cannot be serialised."""
    found = hindrance(function)
    if found is not None:
        hint = (
            "Here threads run one after the other. `inside`, `run --simulate` and `i` on the Run page run them side by "
            "side; or run the function as it was before its loops were bound together."
        )
        raise unsupported(f"A function in which {found.words},", found.node, locate, hint)


def _declare_scalars(state: State, function: PrimFunc, *, has_sizes: bool) -> None:
    """Give registers to the scalar parameters, and to the symbols of shapes if these have no sizes."""
    symbols = shape_symbols(function)
    for number, symbol in enumerate(symbols):
        scalar = state.scalar_of(symbol)
        if not has_sizes:
            state.bounds.bind_symbol(symbol)
            state.environment.registers[symbol] = f"%d{number}"
        if not scalar.is_integral:
            raise unsupported(f"The dimension `{symbol.name}` of dtype {symbol.dtype}", symbol, state.locate)
    for number, param in enumerate(function.params):
        if param.dtype != "handle" and param not in symbols:
            state.scalar_of(param)
            state.bounds.bind_scalar(param)
            state.environment.registers[param] = f"%a{number}"


def _lowered(state: State, text: str, workspace: tuple[Buffer, ...]) -> Lowered:
    """Collect what the lowering found, told of the statements of the text alone."""
    origin = state.provenance.origin
    remarks = tuple(replace(item, node=origin.get(item.node, item.node)) for item in state.emitted.remarks)
    pipeline = _pipeline(state, text.count("\n"))
    # Of loops that are written already, or compiled in haste, LLVM makes no vectors.
    variants = () if PIPELINES[pipeline].names else state.code.variants.values()
    return Lowered(
        "\n".join((text, *variants)),
        tuple(replace(item, node=origin.get(item.node, item.node)) for item in state.emitted.sites),
        workspace,
        tuple(dict.fromkeys(origin.get(item, item) for item in state.emitted.checked)),
        state.result,
        tuple(state.emitted.packed_calls),
        pipeline,
        remarks,
        tuple(replace(item, node=origin.get(item.node, item.node)) for item in state.code.origins),
        static_work(state, state.function.body),
        bool(state.emitted.parts),
        state.function,
        tuple(state.emitted.plans or ()),
    )


def _pipeline(state: State, line_count: int) -> Pipeline:
    if _is_brief(state):
        return "brief"
    applied = [remark for remark in state.emitted.remarks if remark.kind == "applied"]
    tiles: set[Form] = {form_of_tiles(remark.node) for remark in applied if remark.transform == "tile"}
    names = (remark.transform for remark in applied)
    return pipeline_of(
        names, state.emitted.forms | tiles, has_vectors=state.emitted.vector_count > 0, line_count=line_count
    )


def _evaluate(state: State, stmt: Evaluate) -> None:
    match stmt.value:
        case Intrinsic(name="break_loop" | "continue_loop" | "ret"):
            lower_jump(state, stmt)
        case Intrinsic(name="assume", args=(condition,)):
            state.require(_truth(state, condition), Site("assert", stmt, hint=f"`{show_prim(condition)}` is assumed"))
        case value:
            _evaluate_value(state, value)


def _evaluate_value(state: State, value: PrimExpr) -> None:
    """Emit an expression for its effects; a pointer is only checked."""
    is_pointer = not isinstance(value, Intrinsic) or value.name in DERIVED
    if is_pointer and dtype_of(value) == "handle":
        pointer_of(state, value)
    else:
        lanes = lanes_of(dtype_of(value))
        for item in lanes_of_value(state, value, lanes) if lanes > 1 else (value,):
            lower_expr(state, item)


def _truth(state: State, condition: PrimExpr) -> str:
    return convert(state, lower_expr(state, condition), state.scalar_of(condition), BOOL)


def _bind(state: State, var: PrimVar, value: PrimExpr) -> None:
    """Emit `var = value`; the caller ends the scope with `forget`."""
    scalar = state.scalar_of(var)
    state.bind(var, value, convert(state, lower_expr(state, value), state.scalar_of(value), scalar))


def _let(state: State, var: PrimVar, value: PrimExpr) -> int:
    """Emit `var = value`, a scalar, a vector or a pointer; return how many variables that defines."""
    if var.dtype == "handle":
        state.environment.pointers[var] = pointer_of(state, value)
        return 0
    if lanes_of(var.dtype) > 1:
        return bind_vector(state, var, value)
    _bind(state, var, value)
    return 1


def _conditional(state: State, chosen: IfThenElse) -> None:
    code, bounds = state.code, state.bounds
    labels = code.label("then"), code.label("else")
    after = code.label("after")
    code.branch(_truth(state, chosen.condition), *labels)
    for label, part, truth in zip(labels, (chosen.then_body, chosen.else_body), (True, False), strict=True):
        code.start(label)
        mark = bounds.mark()
        bounds.assume(chosen.condition, truth=truth)
        if part is not None:
            state.lower_stmt(part)
        bounds.leave(mark)
        code.jump(after)
    code.start(after)


def _block(state: State, block: Block) -> None:
    """Emit a block: its variables, its initialisation at the start of the reductions, its body."""
    code = state.code
    for item in block.iter_vars:
        _bind(state, item.var, item.binding)
    after = ""
    if block.predicate is not None:
        after, inside = code.label("skip"), code.label("inside")
        code.branch(_truth(state, block.predicate), inside, after)
        code.start(inside)
        state.bounds.assume(block.predicate)
    bound = sum(match_region(state, match) for match in block.matches)
    if block.init is not None:
        _init(state, block, block.init)
    state.lower_stmt(block.body)
    if after:
        code.goto(after)
    state.forget(bound + len(block.iter_vars))


def _init(state: State, block: Block, init: Stmt) -> None:
    code = state.code
    tests = [_is_first(state, item) for item in block.iter_vars if item.kind == "reduce"]
    if not tests:
        state.lower_stmt(init)
        return
    is_start = tests[0]
    for test in tests[1:]:
        is_start = code.emit(f"and i1 {is_start}, {test}")
    first, after = code.label("init"), code.label("update")
    code.branch(is_start, first, after)
    code.start(first)
    state.lower_stmt(init)
    code.goto(after)


def _is_first(state: State, item: IterVar) -> str:
    """Emit whether a reduction variable of a block has its first value."""
    scalar = state.scalar_of(item.var)
    first = "0"
    if item.start is not None:
        first = convert(state, lower_expr(state, item.start), state.scalar_of(item.start), scalar)
    return state.code.emit(f"icmp eq {scalar.register} {state.environment.registers[item.var]}, {first}")


def _is_number(literal: IntImm) -> bool:
    """Tell whether a literal is representable in its dtype; literals of unknown dtypes are refused where they are used.

    Any integer is a bool: true unless it is 0.
    """
    scalar = SCALAR_TYPES.get(literal.dtype)
    if scalar is None or not scalar.is_integral or literal.dtype == "bool":
        return True
    return scalar.low <= literal.value <= scalar.high


def _check_size(function: PrimFunc, locate: Locate) -> int:
    """Refuse what is nested so deeply, or so large with shared parts written out, that lowering would not end.

    A number that is none of its dtype is refused as well: its bits would be those of another number. Returned is how
    many nodes are visited where each loop is examined as a whole, which those around it are again.
    """
    looked_at = 0
    depth: dict[Node, int] = {}
    size: dict[Node, int] = {}
    for item in postorder(function):
        parts = children(item)
        depth[item] = 1 + max((depth[part] for part in parts), default=0)
        size[item] = 1 + sum(size[part] for part in parts)
        if isinstance(item, IntImm) and not _is_number(item):
            message = f"The number {item.value} does not fit {item.dtype}"
            raise CompileError((Diagnostic("JT023", message, locate(item), "Write it with a wider dtype."),))
        if depth[item] > DEPTH_LIMIT or size[item] > SIZE_LIMIT:
            found = f"nested more than {DEPTH_LIMIT} levels deep" if depth[item] > DEPTH_LIMIT else "too large"
            hint = "Bind parts of it to variables or to buffers."
            raise CompileError((Diagnostic("JT016", f"This prim func is {found}", locate(item), hint),))
        looked_at += size[item] if isinstance(item, For | While) else 1
        if looked_at > LARGEST_NEST:
            hint = "Move what the inner loops do into prim funcs of their own."
            message = "The loops of this prim func are nested too deeply around too much code"
            raise CompileError((Diagnostic("JT016", message, locate(item), hint),))
    return looked_at
