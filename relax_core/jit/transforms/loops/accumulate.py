"""Register promotion: an element that a loop updates repeatedly lives in a register and is stored at the loop's exits.

A check behind a store keeps LLVM from doing so, as the element has to be in memory where the check stops the kernel.
Here the stop stores it before, so that memory holds just what it does without this.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import IntImm, Intrinsic, LetExpr, PrimExpr, dtype_of, lanes_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferStore,
    DeclBuffer,
    For,
    IterVar,
    LetStmt,
    Stmt,
)
from relax_core.jit.lowering.known.work import has_jump
from relax_core.jit.lowering.memory.storage import Held, Storage
from relax_core.jit.lowering.scalars.intrinsics import CALLS, arity_of
from relax_core.jit.lowering.scalars.scalar import element_pointer, is_safe
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.indirect.guard_read import is_same
from relax_core.jit.transforms.plan_nest import holding, local, store
from relax_core.jit.transforms.transform import Around, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
ON_STACK = "%local"


def plan_accumulate(state: State, loop: For) -> Around | None:
    """Plan a loop that reads and writes an element which is the same in all of its iterations."""
    if loop.kind == "thread_binding" or has_jump(loop.body, "ret"):
        return None
    elements = elements_of(state, loop)
    if not elements:
        return None
    names = ", ".join(f"`{element.buffer.name}`" for element in elements)
    what = "an element" if len(elements) == 1 else "elements"
    reason = f"{what} of {names} stay{'s' if len(elements) == 1 else ''} in a register until the loop ends"
    return Around(reason, lambda: _held(state, elements), lambda stmt: _told(stmt, elements))


def elements_of(state: State, loop: For) -> list[BufferLoad]:
    """Return the elements that a loop updates over and over, as they are read before it."""
    nodes = [*postorder(loop.body)]
    if any(_is_foreign(item) for item in nodes):
        return []
    accesses = [item for item in nodes if isinstance(item, BufferLoad | BufferStore)]
    if any(
        (storage := state.environment.storage.get(item.buffer)) is None or storage.memory is not None
        for item in accesses
    ):
        return []
    return [element for buffer in _updated(accesses) if (element := _element(state, loop, buffer, accesses))]


# Why the bits stay: the slot on the stack has the dtype of the element, so that every store rounds as it does in
# memory. All accesses to that memory in the loop are of this one element: other buffers at the same address, views,
# pointers and calls are refused, and the indices of all accesses are the same expression, of which nothing changes in
# the loop. The element is proven in range before the loop, so that reading it touches nothing that the kernel may not
# touch, even if the loop has no iterations; then it is written back as it was. Where a check stops the kernel inside
# the loop, `State.site` stores what is held before it reports, so that memory is as in the text.
ACCUMULATE = Transform("accumulate", "What a loop adds up stays in a register until it is left", MODES, plan_accumulate)


def _told(stmt: Stmt, elements: list[BufferLoad]) -> Stmt:
    """Return what a loop became, between the copies of its elements to registers and back."""
    kept = {item.buffer: local(f"{item.buffer.name}_local", (1,), item.buffer.dtype) for item in elements}
    zero = (IntImm(0, "int64"),)

    def beside(item: Node) -> Node | None:
        """Rule: the element in memory -> the one in a register."""
        match item:
            case BufferLoad(buffer=buffer) if buffer in kept:
                return BufferLoad(kept[buffer], zero)
            case BufferStore(buffer=buffer, value=value) if buffer in kept:
                return BufferStore(kept[buffer], zero, value)
            case _:
                return None

    taken = [store(BufferLoad(kept[item.buffer], zero), item) for item in elements]
    given = [store(item, BufferLoad(kept[item.buffer], zero)) for item in elements]
    return holding("held", tuple(kept.values()), *taken, rewrite(stmt, beside, log=RewriteLog()), *given)


@contextmanager
def _held(state: State, elements: list[BufferLoad]) -> Generator[None]:
    held = take(state, elements)
    state.environment.held.update(held)
    yield
    for buffer in held:
        del state.environment.held[buffer]
    give_back(state, elements, held)


def take(state: State, elements: list[BufferLoad]) -> dict[Buffer, Held]:
    """Bring elements to the stack, in places that have no other use, of which LLVM makes registers."""
    code = state.code
    held: dict[Buffer, Held] = {}
    for element in elements:
        storage = state.environment.storage[element.buffer]
        before = code.set_location(element)
        slot, pointer = f"%{code.label('kept')}", element_pointer(state, element)
        code.entry.append(f"{slot} = alloca {storage.scalar.memory}")
        item = held[element.buffer] = Held(slot, pointer, storage)
        _move(state, storage, item.pointer, item.slot)
        code.restore_location(before)
    return held


def give_back(state: State, elements: list[BufferLoad], held: Mapping[Buffer, Held]) -> None:
    """Bring elements to where they belong in memory."""
    for element in elements:
        item = held[element.buffer]
        before = state.code.set_location(element)
        _move(state, item.storage, item.slot, item.pointer)
        state.code.restore_location(before)


def _move(state: State, storage: Storage, source: str, target: str) -> None:
    memory = storage.scalar.memory
    value = state.code.emit(f"load {memory}, ptr {source}, align {storage.alignment}")
    state.code.do(f"store {memory} {value}, ptr {target}, align {storage.alignment}")


def _is_foreign(node: Node) -> bool:
    """Tell whether a loop with this in it is left alone: calls, views, pointers and vectors."""
    match node:
        case Intrinsic(name=name):
            return name in CALLS or (arity_of(name) is None and name not in ("break_loop", "continue_loop"))
        case BufferLoad() | BufferStore():
            return lanes_of(node.buffer.dtype) > 1 or any(lanes_of(dtype_of(item)) > 1 for item in node.indices)
        case Block(matches=matches):
            return bool(matches)
        case BufferRef() | DeclBuffer():
            return True
        case _:
            return False


def _updated(accesses: "list[BufferLoad | BufferStore]") -> "Iterator[Buffer]":
    """List the buffers that are read and written."""
    read = {item.buffer for item in accesses if isinstance(item, BufferLoad)}
    yield from dict.fromkeys(item.buffer for item in accesses if isinstance(item, BufferStore) and item.buffer in read)


def _element(state: State, loop: For, buffer: Buffer, accesses: "list[BufferLoad | BufferStore]") -> BufferLoad | None:
    """Return the one element of a buffer that a loop accesses, if it surely is in range, as read before the loop."""
    pointer = state.environment.storage[buffer].pointer
    mine = [item for item in accesses if state.environment.storage[item.buffer].pointer == pointer]
    if (
        buffer in state.environment.held
        or pointer.startswith(ON_STACK)
        or any(item.buffer is not buffer for item in mine)
    ):
        return None
    if any(len(item.indices) != len(buffer.shape) for item in mine):
        return None
    inside = _Inside(loop)
    first, *others = (tuple(map(inside.seen_from_outside, item.indices)) for item in mine)
    if not all(is_same(a, b) for other in others for a, b in zip(first, other, strict=True)):
        return None
    stored = {item.buffer for item in accesses if isinstance(item, BufferStore)}
    if any(inside.depends(index, stored) or not is_safe(state, index) for index in first):
        return None
    if not all(state.bounds.is_in_range(buffer, at, index) for at, index in enumerate(first)):
        return None
    node = next(item for item in mine if isinstance(item, BufferStore))
    element = BufferLoad(buffer, first, span=node.span)
    state.provenance.origin[element] = state.provenance.origin.get(node, node)
    return element


class _Inside:
    """The variables that a loop binds: `bindings` are those that stand for an expression, `varying` all others."""

    def __init__(self, loop: For) -> None:
        self.varying: set[Node] = {loop.var}
        self.bindings: dict[Node, PrimExpr] = {}
        for item in postorder(loop.body):
            match item:
                case IterVar(var=var, binding=binding) | LetStmt(var=var, value=binding):
                    if var in self.bindings or dtype_of(binding) != var.dtype:
                        self.varying.add(var)
                    self.bindings[var] = binding
                case For(var=var) | LetExpr(var=var):
                    self.varying.add(var)
                case _:
                    pass
        for var in self.varying:
            self.bindings.pop(var, None)

    def seen_from_outside(self, index: PrimExpr) -> PrimExpr:
        """Put what variables are bound to in their places, and again in that of what they are bound to."""

        def bound(item: Node) -> Node | None:
            """Rule: variable -> what it is bound to."""
            return self.bindings.get(item)

        for _ in self.bindings:
            if not any(item in self.bindings for item in postorder(index)):
                break
            index = rewrite(index, bound, log=RewriteLog())
        return index

    def depends(self, index: PrimExpr, stored: "set[Buffer]") -> bool:
        """Tell whether an index may change in the loop, which stores to the buffers `stored`."""
        nodes = postorder(index)
        return any(item in self.varying or (isinstance(item, BufferLoad) and item.buffer in stored) for item in nodes)
