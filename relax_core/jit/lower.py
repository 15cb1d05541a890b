"""TIR to LLVM IR as text: one prim func, for given sizes or for any."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    TirStmt,
    While,
)
from relax_core.jit.arithmetic import convert
from relax_core.jit.bounds import Bounds
from relax_core.jit.checks import Locate, Site, unsupported
from relax_core.jit.frame import declare_buffers, enclose
from relax_core.jit.loops import lower_for, lower_while
from relax_core.jit.scalar import element_pointer, lower_expr
from relax_core.jit.state import State
from relax_core.jit.symbols import shape_symbols
from relax_core.jit.text import name_of_statement, text_of
from relax_core.jit.types import SCALAR_TYPES

DEPTH_LIMIT = 200
SIZE_LIMIT = 200_000
BOOL = SCALAR_TYPES["bool"]


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """The LLVM IR of a prim func and what is needed to run it.

    `text` has comments for readers; `sites` are the places where it may stop, by number; `workspace` are the
    buffers that the caller allocates; `checked` are the accesses that are checked at run time.
    """

    text: str
    sites: tuple[Site, ...]
    workspace: tuple[Buffer, ...]
    checked: tuple[Node, ...]

    @property
    def value_count(self) -> int:
        """The greatest number of integers that a site records."""
        return max((len(site.recorded) for site in self.sites), default=0)


def lower(function: PrimFunc, sizes: Mapping[PrimVar, int] | None, locate: Locate, *, are_distinct: bool) -> Lowered:
    """Lower `function` for the values `sizes` of its symbols, or for any values if that is `None`.

    With `are_distinct` the buffers are taken not to overlap. Symbols are those of `shape_symbols`, in that order.

    Raises:
        CompileError: JT001, JT002, JT016 or JT017 for what cannot be compiled.
    """
    _check_size(function, locate)
    symbols = shape_symbols(function)
    state = State(Bounds(sizes or {}), locate)
    for number, symbol in enumerate(symbols):
        scalar = state.scalar_of(symbol)
        if sizes is None:
            state.bounds.bind_symbol(symbol)
            state.registers[symbol] = f"%d{number}"
        if not scalar.is_integral:
            raise unsupported(f"The dimension `{symbol.name}` of dtype {symbol.dtype}", symbol, locate)
    for number, param in enumerate(function.params):
        if param.dtype != "handle" and param not in symbols:
            state.scalar_of(param)
            state.bounds.bind_scalar(param)
            state.registers[param] = f"%a{number}"
    workspace = declare_buffers(state, function)
    lower_stmt(state, function.body)
    state.code.do("ret i32 0")
    text = enclose(state, function, workspace, are_distinct=are_distinct)
    return Lowered(text, tuple(state.sites), workspace, tuple(dict.fromkeys(state.checked)))


def lower_stmt(state: State, stmt: Stmt) -> None:
    """Emit a statement; what it declares and assumes ends with it."""
    mark = state.bounds.mark()
    match cast("TirStmt", stmt):
        case SeqStmt(stmts=stmts):
            for item in stmts:
                lower_stmt(state, item)
                if isinstance(item, AssertStmt):
                    state.bounds.assume(item.condition)
        case BufferStore() as store:
            _store(state, store)
        case For() as loop:
            lower_for(state, loop, lower_stmt)
        case Block() as block:
            _block(state, block)
        case IfThenElse() as chosen:
            _conditional(state, chosen)
        case LetStmt(var=var, value=value, body=body):
            _bind(state, var, value)
            lower_stmt(state, body)
            state.forget()
        case While() as loop:
            lower_while(state, loop, lower_stmt)
        case AssertStmt(condition=condition, message=message) as check:
            site = Site("assert", check, hint=message or text_of(condition))
            state.require(_truth(state, condition), site)
        case Evaluate(value=value):
            lower_expr(state, value)
        case DeclBuffer(pointer=None, body=body):
            lower_stmt(state, body)
        case AttrStmt() | LaunchThread() | Allocate() | DeclBuffer() | BufferRealize() as other:
            what, hint = name_of_statement(other)
            raise unsupported(what, other, state.locate, hint)
    state.bounds.leave(mark)


def _store(state: State, store: BufferStore) -> None:
    target = f"{store.buffer.name}[{', '.join(text_of(index) for index in store.indices)}]"
    state.code.comment(f"{target} = {text_of(store.value)}")
    pointer = element_pointer(state, store)
    scalar = state.scalar_of(store.buffer)
    value = convert(state, lower_expr(state, store.value), state.scalar_of(store.value), scalar)
    if scalar.kind == "bool":
        value = state.code.emit(f"zext i1 {value} to i8")
    state.code.do(f"store {scalar.memory} {value}, ptr {pointer}, align {scalar.size_bytes}")


def _truth(state: State, condition: PrimExpr) -> str:
    return convert(state, lower_expr(state, condition), state.scalar_of(condition), BOOL)


def _bind(state: State, var: PrimVar, value: PrimExpr) -> None:
    """Emit `var = value`; the caller ends the scope with `forget`."""
    scalar = state.scalar_of(var)
    register = convert(state, lower_expr(state, value), state.scalar_of(value), scalar)
    state.bounds.bind_let(var, value)
    state.define(var, register)


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
            lower_stmt(state, part)
        bounds.leave(mark)
        code.jump(after)
    code.start(after)


def _block(state: State, block: Block) -> None:
    """Emit a block: its variables, its initialisation at the start of the reductions, its body."""
    code = state.code
    if block.matches:
        raise unsupported("A buffer that is matched to a region", block.matches[0], state.locate)
    for item in block.iter_vars:
        _bind(state, item.var, item.binding)
    after = ""
    if block.predicate is not None:
        after, inside = code.label("skip"), code.label("inside")
        code.branch(_truth(state, block.predicate), inside, after)
        code.start(inside)
        state.bounds.assume(block.predicate)
    if block.init is not None:
        _init(state, block, block.init)
    lower_stmt(state, block.body)
    if after:
        code.goto(after)
    state.forget(len(block.iter_vars))


def _init(state: State, block: Block, init: Stmt) -> None:
    code = state.code
    reductions = [item.var for item in block.iter_vars if item.kind == "reduce"]
    shifted = next((item for item in block.iter_vars if item.kind == "reduce" and item.start is not None), None)
    if shifted is not None:
        raise unsupported("T.init() with a reduction that does not start at 0", shifted, state.locate)
    tests = [f"icmp eq {state.scalar_of(var).register} {state.registers[var]}, 0" for var in reductions]
    if not tests:
        lower_stmt(state, init)
        return
    is_start = code.emit(tests[0])
    for test in tests[1:]:
        is_start = code.emit(f"and i1 {is_start}, {code.emit(test)}")
    first, after = code.label("init"), code.label("update")
    code.branch(is_start, first, after)
    code.start(first)
    lower_stmt(state, init)
    code.goto(after)


def _check_size(function: PrimFunc, locate: Locate) -> None:
    """Refuse what is nested so deeply, or so large with shared parts written out, that lowering would not end."""
    depth: dict[Node, int] = {}
    size: dict[Node, int] = {}
    for item in postorder(function):
        parts = children(item)
        depth[item] = 1 + max((depth[part] for part in parts), default=0)
        size[item] = 1 + sum(size[part] for part in parts)
        if depth[item] > DEPTH_LIMIT or size[item] > SIZE_LIMIT:
            found = f"nested more than {DEPTH_LIMIT} levels deep" if depth[item] > DEPTH_LIMIT else "too large"
            hint = "Bind parts of it to variables or to buffers."
            raise CompileError((Diagnostic("JT016", f"This prim func is {found}", locate(item), hint),))
