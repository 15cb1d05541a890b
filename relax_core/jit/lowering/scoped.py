"""Statements that hold those behind them: attributes, memory, and views of it."""

from relax_core.ir.intrinsics import UNKNOWN_POINTER
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr
from relax_core.ir.tir import Allocate, AttrStmt, BufferRealize, DeclBuffer, LaunchThread, Stmt
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.memory.views import declare_view, pointer_of
from relax_core.jit.lowering.state import State

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


def enter(state: State, stmt: LaunchThread | AttrStmt | Allocate | DeclBuffer | BufferRealize) -> Stmt:
    """Emit what a statement declares, and return its body.

    Memory was given to all allocated buffers before the body started.
    """
    match stmt:
        case LaunchThread(tag=tag):
            hint = "Kernels run on the host; use T.grid or T.serial."
            raise unsupported(f"A launch of the threads `{tag}`", stmt, state.locate, hint)
        case AttrStmt(key=key) if key in MEANINGFUL:
            hint = "It is for a code generator; leave it out to run the kernel here."
            raise unsupported(f"The attribute `{key}`", stmt, state.locate, hint)
        case Allocate(condition=condition):
            _check_always(state, "`T.allocate`", condition, stmt)
        case BufferRealize(condition=condition):
            _check_always(state, "`T.realize`", condition, stmt)
        case DeclBuffer(buffer=buffer, pointer=Intrinsic(name=name)) if name == UNKNOWN_POINTER:
            hint = "Say whose it is, T.decl_buffer(shape, data=A.data), or that it has its own: T.alloc_buffer(shape)."
            raise unsupported(f"The buffer `{buffer.name}`, whose memory is not known,", stmt, state.locate, hint)
        case DeclBuffer(buffer=buffer, pointer=PrimExpr() as pointer):
            declare_view(state, buffer, pointer_of(state, pointer), stmt)
        case AttrStmt() | DeclBuffer():
            pass
    return stmt.body


def _check_always(state: State, name: str, condition: PrimExpr | None, stmt: Stmt) -> None:
    """Refuse memory under a condition that is not a literal."""
    if condition is not None and not (isinstance(condition, IntImm) and condition.value):
        raise unsupported(f"{name} under a condition", stmt, state.locate, "Put it under an `if`.")
