"""Views of memory: buffers declared on a pointer, and those matched to a region of another buffer.

A view is checked once, where it is declared, to lie in its memory; its accesses are checked against its own shape.
"""

from collections.abc import Sequence

from relax_core.ir.integer.polynomial import add
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar, lanes_of
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef, MatchRegion
from relax_core.jit.lowering.checks import Site, unsupported
from relax_core.jit.lowering.memory.storage import Pointer, Storage
from relax_core.jit.lowering.scalars.counts import check_layout, lower_count, wrapped
from relax_core.jit.lowering.scalars.scalar import element_pointer, lower_expr
from relax_core.jit.lowering.state import State

# Extents, strides and offsets of a view are below this, so that their products fit 128 bits.
LIMIT = 1 << 47


def layout_of(state: State, buffer: Buffer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Emit the extents and the strides of a buffer; without strides of its own it is row-major."""
    extents = tuple(_wide(state, dim) for dim in buffer.shape)
    size_bytes = state.scalar_of(state.environment.lane_buffers.get(buffer, buffer)).size_bytes
    if buffer.strides:
        strides = [_wide(state, stride) for stride in buffer.strides]
        check_layout(buffer, (extents, strides), size_bytes, state.locate)
        return extents, tuple(strides)
    check_layout(buffer, (extents, ()), size_bytes, state.locate)
    made: list[str] = []
    stride = "1"
    for extent in reversed(extents):
        made.append(stride)
        stride = _product(state, stride, extent)
    return extents, tuple(reversed(made))


def declare_view(state: State, buffer: Buffer, pointer: Pointer, node: Node) -> None:
    """Let `buffer` be a view of the memory at `pointer`, which has to be large enough for it."""
    lanes = lanes_of(buffer.dtype)
    scalars = state.environment.lane_buffers.get(buffer, buffer)
    extents, strides = layout_of(state, scalars if not buffer.strides else buffer)
    offset = "0" if buffer.elem_offset is None else _wide(state, buffer.elem_offset)
    site = Site("view", node, ("", ""), hint=buffer.name)
    for item in (offset, *strides) if lanes > 1 else ():
        # The product with the lanes, which are few, must not come back into the memory.
        if "%" in item or not 0 <= int(item) < LIMIT:
            is_small = state.code.emit(f"icmp ult i64 {item}, {LIMIT}")
            state.require(is_small, site, (item, pointer.room_bytes))
    if buffer.strides and lanes > 1:
        extents = (*extents, str(lanes))
        strides = (*(_product(state, stride, str(lanes)) for stride in strides), "1")
    if len(strides) != len(extents):
        raise unsupported(f"The view `{buffer.name}` with {len(buffer.strides)} strides", node, state.locate)
    offset = _product(state, offset, str(lanes))
    scalar = state.scalar_of(scalars)
    _check_extent(state, (offset, extents, strides), scalar.size_bytes, (buffer, node, pointer.room_bytes))
    start = _moved(state, pointer.register, _product(state, offset, str(scalar.size_bytes)))
    alignment = min(scalar.size_bytes, pointer.alignment)
    state.environment.storage[scalars] = Storage(start, extents, strides, scalar, alignment, pointer, offset)


def pointer_of(state: State, expr: PrimExpr) -> Pointer:
    """Emit a pointer: the memory of a buffer, an allocation, the address of an element, a part of these."""
    match expr:
        case BufferRef(buffer=buffer) if (storage := state.storage_of(buffer)) is not None:
            return _memory(state, storage)
        case PrimVar() if expr in state.environment.pointers:
            return state.environment.pointers[expr]
        case PrimVar() if expr in state.environment.memory.allocation_of:
            return _memory(state, state.environment.storage[state.environment.memory.allocation_of[expr]])
        case PrimVar(name=name):
            hint = "Every handle needs its buffer: A = T.match_buffer(handle, shape)."
            raise unsupported(f"The handle `{name}`, whose memory is not known,", expr, state.locate, hint)
        case Intrinsic(name="reinterpret", args=(inner,)):
            return pointer_of(state, inner)
        case Intrinsic(name="address_of", args=(BufferLoad() as load,)):
            return _address(state, load)
        case Intrinsic(name="handle_add_byte_offset", args=(inner, distance)):
            return _part(state, expr, pointer_of(state, inner), (_wide(state, distance), None, 1))
        case Intrinsic(name="tvm_access_ptr", args=(element, inner, offset, extent, *_)):
            size = state.scalar_of(element).size_bytes
            bounds = (_wide(state, offset), _wide(state, extent), size)
            return _part(state, expr, pointer_of(state, inner), bounds)
        case Intrinsic(name=name):
            raise unsupported(f"`T.{name}` as a pointer", expr, state.locate)
        case _:
            raise unsupported(f"`{show_prim(expr)}` as a pointer", expr, state.locate)


def match_region(state: State, match: MatchRegion) -> int:
    """Let a block's buffer be the region that it is matched to; return how many variables that defines."""
    buffer, region = match.buffer, match.region
    source = state.environment.storage.get(region.buffer)
    skipped = len(region.starts) - len(buffer.shape)
    if source is None or skipped < 0 or buffer.dtype != region.buffer.dtype:
        what = f"The buffer `{buffer.name}`, matched to a region of `{region.buffer.name}`,"
        raise unsupported(what, match, state.locate, "Its dtype is that of the region, and its rank is not greater.")
    offset = "0"
    extents: list[str] = []
    for position, extent in enumerate(region.extents):
        first, count = _region_part(state, match, position)
        extents.append(count)
        if position < skipped and state.bounds.constant(extent) != 1:
            state.require(state.code.emit(f"icmp eq i64 {count}, 1"), _mismatch(match), (count, "1"))
        offset = _sum(state, offset, _product(state, first, source.strides[position]))
    start = _moved(state, source.pointer, _product(state, offset, str(source.scalar.size_bytes)))
    strides = source.strides[skipped:]
    total = _sum(state, source.offset, offset)
    memory = source.memory or _memory(state, source)
    view = Storage(start, tuple(extents[skipped:]), strides, source.scalar, source.alignment, memory, total)
    bound = 0
    for dim, expr, register in zip(buffer.shape, region.extents[skipped:], view.extents, strict=True):
        bound += _unify(state, match, dim, (register, expr))
    for stride, register in zip(buffer.strides, strides, strict=False):
        bound += _unify(state, match, stride, (register, _known(register)))
    if buffer.elem_offset is not None:
        bound += _unify(state, match, buffer.elem_offset, (total, _known(total)))
    state.environment.storage[buffer] = view
    return bound


def _region_part(state: State, match: MatchRegion, position: int) -> tuple[str, str]:
    """Emit the start and the extent of a region in one dimension, checked to lie in the buffer."""
    region, bounds = match.region, state.bounds
    start, extent = region.starts[position], region.extents[position]
    first, count = _wide(state, start), _wide(state, extent)
    behind = add(add(bounds.poly(region.buffer.shape[position]), bounds.poly(start), -1), bounds.poly(extent), -1)
    if not all(bounds.is_nonnegative(goal) for goal in (bounds.poly(start), bounds.poly(extent), behind)):
        whole = state.environment.storage[region.buffer].extents[position]
        site = Site("view", match, ("", ""), position)
        state.require(state.code.emit(f"icmp ule i64 {first}, {whole}"), site, (_sum(state, first, count), whole))
        left = state.code.emit(f"sub i64 {whole}, {first}")
        state.require(state.code.emit(f"icmp ule i64 {count}, {left}"), site, (_sum(state, first, count), whole))
    return first, count


def _unify(state: State, match: MatchRegion, declared: PrimExpr, found: tuple[str, PrimExpr | None]) -> int:
    """Bind a symbol of a matched buffer, or compare what it declares; return how many variables that defines."""
    register, expr = found
    bounds = state.bounds
    is_free = (
        isinstance(declared, PrimVar) and declared not in state.environment.registers and declared not in bounds.values
    )
    if isinstance(declared, PrimVar) and (
        is_free or (declared in state.environment.matched and declared not in state.environment.active)
    ):
        scalar = state.scalar_of(declared)
        narrow = register
        if scalar.bits != 64 and "%" in register:
            narrow = state.code.emit(f"trunc i64 {register} to {scalar.register}")
        state.environment.matched.add(declared)
        if expr is not None:
            state.bind(declared, expr, narrow)
        else:
            bounds.bind_scalar(declared)
            state.define(declared, narrow)
        return 1
    if expr is not None and bounds.poly(declared) == bounds.poly(expr):
        return 0
    wanted = _wide(state, declared)
    state.require(state.code.emit(f"icmp eq i64 {register}, {wanted}"), _mismatch(match), (register, wanted))
    return 0


def _mismatch(match: MatchRegion) -> Site:
    return Site("view", match, ("", ""), -1)


def _known(register: str) -> PrimExpr | None:
    return None if "%" in register else IntImm(int(register), "int64")


def _memory(state: State, storage: Storage) -> Pointer:
    """Return the memory of a buffer: what it is a view of, or its own elements."""
    if storage.memory is not None:
        return storage.memory
    last = "0"
    for extent, stride in zip(storage.extents, storage.strides, strict=True):
        last = _sum(state, last, _product(state, _sum(state, extent, "-1"), stride))
    size = _product(state, _sum(state, last, "1"), str(storage.scalar.size_bytes))
    if "0" in storage.extents:
        size = "0"
    elif any("%" in extent for extent in storage.extents):
        # An empty buffer has no memory, whatever its strides.
        for extent in storage.extents:
            if "%" in extent:
                size = state.code.emit(f"select i1 {state.code.emit(f'icmp eq i64 {extent}, 0')}, i64 0, i64 {size}")
    return Pointer(storage.pointer, size, storage.alignment)


def _address(state: State, load: BufferLoad) -> Pointer:
    """Emit the address of an element, and how much memory is left behind it."""
    first = state.lanes.access(load, 0)
    storage = state.storage_of(load.buffer)
    if first is None or storage is None:
        raise unsupported(f"`T.address_of({show_prim(load)})`", load, state.locate)
    register = element_pointer(state, first)
    memory = _memory(state, storage)
    places = [state.code.emit(f"ptrtoint ptr {item} to i64") for item in (register, memory.register)]
    distance = state.code.emit(f"sub i64 {places[0]}, {places[1]}")
    left = state.code.emit(f"sub i64 {memory.room_bytes}, {distance}")
    return Pointer(register, left, storage.alignment)


def _part(state: State, node: Intrinsic, whole: Pointer, place: tuple[str, str | None, int]) -> Pointer:
    """Emit a pointer `offset` elements of `size` behind another, to `extent` of them or to all that are left."""
    offset, extent, size = place
    count = "0" if extent is None else extent
    shape = ("0", (offset,), ("1",)) if extent is None else (offset, (extent,), ("1",))
    _check_extent(state, shape, size, (None, node, whole.room_bytes))
    distance = _product(state, offset, str(size))
    left = state.code.emit(f"sub i64 {whole.room_bytes}, {distance}") if extent is None else ""
    room = left or _product(state, count, str(size))
    alignment = whole.alignment if distance == "0" else min(whole.alignment, size)
    return Pointer(_moved(state, whole.register, distance), room, alignment)


def _check_extent(
    state: State,
    layout: tuple[str, Sequence[str], Sequence[str]],
    size: int,
    subject: tuple[Buffer | None, Node, str],
) -> None:
    """Check that a view lies in its memory: its offset, extents and strides, in elements of `size` bytes."""
    offset, extents, strides = layout
    buffer, node, room = subject
    numbers = (offset, *extents, *strides)
    site = Site("view", node, ("", ""), hint="" if buffer is None else buffer.name)
    if not any("%" in item for item in (*numbers, room)):
        is_small = all(0 <= int(item) < LIMIT for item in numbers)
        last = sum((int(extent) - 1) * int(stride) for extent, stride in zip(extents, strides, strict=True))
        needed = (int(offset) + last + 1) * size if "0" not in extents else 0
        if not is_small or needed > int(room):
            state.require("false", site, (str(min(max(needed, 0), (1 << 63) - 1)), room))
        return
    code = state.code
    is_small = "true"
    for item in dict.fromkeys(numbers):
        is_small = code.emit(f"and i1 {is_small}, {code.emit(f'icmp ult i64 {item}, {LIMIT}')}")
    total = code.emit(f"zext i64 {offset} to i128")
    for extent, stride in zip(extents, strides, strict=True):
        above = code.emit(f"sub i128 {code.emit(f'sext i64 {extent} to i128')}, 1")
        step = code.emit(f"mul i128 {above}, {code.emit(f'sext i64 {stride} to i128')}")
        total = code.emit(f"add i128 {total}, {step}")
    needed = code.emit(f"mul i128 {code.emit(f'add i128 {total}, 1')}, {size}")
    fits = code.emit(f"icmp sle i128 {needed}, {code.emit(f'sext i64 {room} to i128')}")
    condition = code.emit(f"and i1 {is_small}, {fits}")
    state.require(condition, site, (code.emit(f"trunc i128 {needed} to i64"), room))


def _wide(state: State, expr: PrimExpr) -> str:
    return lower_count(state, expr, lower_expr)


def _moved(state: State, pointer: str, distance_bytes: str) -> str:
    if distance_bytes == "0":
        return pointer
    return state.code.emit(f"getelementptr i8, ptr {pointer}, i64 {distance_bytes}", "view")


def _product(state: State, a: str, b: str) -> str:
    if "1" in (a, b):
        return b if a == "1" else a
    if "%" not in a and "%" not in b:
        return wrapped(int(a) * int(b))
    return state.code.emit(f"mul i64 {a}, {b}", "stride")


def _sum(state: State, a: str, b: str) -> str:
    if "0" in (a, b):
        return b if a == "0" else a
    if "%" not in a and "%" not in b:
        return wrapped(int(a) + int(b))
    return state.code.emit(f"add i64 {a}, {b}")
