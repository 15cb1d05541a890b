"""From which statement to which the memory of an allocated buffer is in use."""

from dataclasses import dataclass, field

from relax_core.analysis.tir_memory import Memory
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import (
    Buffer,
    BufferLoad,
    BufferRef,
    BufferStore,
    DeclBuffer,
    For,
    IfThenElse,
    LaunchThread,
    PrimFunc,
    ScopedStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.passes.tir.memory.scopes import Path, Scope


@dataclass(slots=True)
class Lifetime:
    """The life of a buffer: from `start` to `end`, in the order of the text, and what is used of it there.

    Statements are counted in the scope that allocates the buffer: what a loop in that scope does with it, it does from
    the begin of the loop to its end. `first` and `last` are the statements there that begin and end the life.
    `owner` is the parallel loop or the launch whose threads have the buffer each, `None` for the function.
    """

    buffer: Buffer
    declaration: DeclBuffer
    path: Path
    owner: Stmt | None
    level: int
    start: int = -1
    end: int = -1
    first: Stmt | None = None
    last: Stmt | None = None
    is_whole: bool = False
    """Whether its memory is handed on or has another name, so that not all accesses are seen."""

    @property
    def is_used(self) -> bool:
        """Tell whether anything accesses the buffer."""
        return self.start >= 0


def lifetimes_of(function: PrimFunc, memory: Memory) -> tuple[Lifetime, ...]:
    """Return the lifetimes of the buffers that statements allocate, in the order of the text.

    A buffer that is declared twice, as copies of a statement may do, has none.
    """
    walk = _Lives()
    walk.stmt(function.body, 0, (), None)
    shared = {memory.owner(view) for view in memory.views}
    for item in walk.found.values():
        item.is_whole = item.is_whole or item.buffer in shared or None in shared
    return tuple(item for buffer, item in walk.found.items() if buffer not in walk.twice)


@dataclass(slots=True)
class _Lives:
    """Counts statements; recursion follows the nesting of the text."""

    clock: int = 0
    found: dict[Buffer, Lifetime] = field(default_factory=dict[Buffer, Lifetime])
    twice: set[Buffer] = field(default_factory=set[Buffer])
    units: list[tuple[Stmt, int]] = field(default_factory=list[tuple[Stmt, int]])
    """Per level the statement that is walked through, and when it began."""
    touched: list[dict[Buffer, None]] = field(default_factory=list[dict[Buffer, None]])

    def stmt(self, stmt: Stmt, level: int, path: Path, owner: Stmt | None) -> None:
        inside = (*path, stmt) if isinstance(stmt, Scope) else path
        match stmt:
            case SeqStmt(stmts=stmts):
                for item in stmts:
                    self.stmt(item, level, path, owner)
            case DeclBuffer(buffer=buffer, pointer=None, body=body):
                if buffer in self.found:
                    self.twice.add(buffer)
                self.found[buffer] = Lifetime(buffer, stmt, path, owner, level)
                self.stmt(body, level, inside, owner)
            case For() | LaunchThread() | IfThenElse() | While():
                has_threads = isinstance(stmt, LaunchThread) or (
                    isinstance(stmt, For) and stmt.kind in ("parallel", "thread_binding")
                )
                self.enter(stmt, level)
                for part in children(stmt):
                    if isinstance(part, Stmt):
                        self.stmt(part, level + 1, inside, stmt if has_threads else owner)
                self.leave(level)
            case _ if isinstance(stmt, ScopedStmt):
                self.enter(stmt, level)
                self.leave(level)
                self.stmt(stmt.body, level, inside, owner)
            case _:
                self.enter(stmt, level)
                self.leave(level)

    def enter(self, stmt: Stmt, level: int) -> None:
        """Begin a statement, with the accesses that are its own."""
        self.clock += 1
        del self.units[level:], self.touched[level:]
        self.units.append((stmt, self.clock))
        self.touched.append({})
        if isinstance(stmt, BufferStore):
            self.touch(stmt.buffer)
        for part in children(stmt):
            if isinstance(part, PrimExpr):
                for item in preorder(part):
                    self.expr(item)

    def expr(self, item: Node) -> None:
        match item:
            case BufferLoad(buffer=buffer):
                self.touch(buffer)
            case BufferRef(buffer=buffer):
                self.touch(buffer)
                if buffer in self.found:
                    self.found[buffer].is_whole = True
            case _:
                pass

    def touch(self, buffer: Buffer) -> None:
        life = self.found.get(buffer)
        if life is None:
            return
        stmt, start = self.units[life.level]
        if not life.is_used:
            life.start, life.first = start, stmt
        life.last = stmt
        self.touched[life.level][buffer] = None

    def leave(self, level: int) -> None:
        """End a statement, and with it for the time being the lives of what it touched."""
        self.clock += 1
        for buffer in self.touched[level]:
            self.found[buffer].end = self.clock
