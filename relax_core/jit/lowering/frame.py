"""The LLVM function around a kernel's body: parameters, buffers, and the entry that unpacks the arguments.

The entry takes two pointers. `slots` is an array of 64-bit words: for each parameter an address or a scalar, then
the values of the symbols, then the addresses of the workspace, then, if packed functions are called, that of the host's
function for them. `record` is the error record of `state.py`.
"""

from collections.abc import Sequence

from relax_core.analysis.tir_memory import buffers_of_vectors, memory_of, written_buffers
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.node import postorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.jit.compilation.debug_lines import function_mark, location_metadata
from relax_core.jit.lowering.checks import unsupported
from relax_core.jit.lowering.known.symbols import let_values, shape_symbols, sized_ahead, spread
from relax_core.jit.lowering.memory.storage import Storage
from relax_core.jit.lowering.memory.views import layout_of
from relax_core.jit.lowering.memory.written import bytes_beside, declare_bytes
from relax_core.jit.lowering.parts import enclose_parts
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import SITE_OFFSET, VALUES_OFFSET, State

ENTRY = "kernel"
# A buffer of no more bytes lies on the stack, where LLVM may turn it into registers.
STACK_BYTES = 1024
ALL_STACK_BYTES = 16384
# What the caller's arrays and those on the stack are aligned to, at the least.
ALIGNMENT = 16


def declare_buffers(state: State, function: PrimFunc, called: Sequence[PrimFunc] = ()) -> tuple[Buffer, ...]:
    """Give storage to the parameters' and the allocated buffers; return those that the caller allocates.

    The buffers that the `called` prim funcs allocate are among them.
    """
    state.environment.memory = memory_of(function, *called)
    state.environment.lane_buffers = dict(buffers_of_vectors(state.environment.memory))
    for number, param in enumerate(function.params):
        buffer = function.buffer_of(param)
        if buffer is not None:
            state.environment.storage[buffer] = _storage(
                state, buffer, f"%a{number}", state.scalar_of(buffer).size_bytes
            )
    workspace: list[Buffer] = []
    on_stack = 0
    values = let_values(function)
    for declared in state.environment.memory.allocated:
        buffer = state.environment.lane_buffers.get(declared, declared)
        # Memory is given before the body starts, where no variable of the body has a value.
        sized = sized_ahead(buffer, values)
        memory = _spread(state, sized)
        _check_shape(state, function, memory)
        size = _constant_bytes(state, memory)
        if size is not None and size <= min(STACK_BYTES, ALL_STACK_BYTES - on_stack):
            on_stack += size
            register = f"%{state.code.label('local')}"
            state.code.entry.append(f"{register} = alloca [{max(size, 1)} x i8], align 64")
            state.code.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            state.code.do(f"call void @llvm.memset.p0.i64(ptr align 64 {register}, i8 0, i64 {size}, i1 false)")
        else:
            register = f"%w{len(workspace)}"
            workspace.append(memory)
        state.environment.storage[buffer] = _storage(state, sized, register, ALIGNMENT)
    if state.options.finds_uninitialised:
        for buffer, written in bytes_beside(state, function).items():
            declare_bytes(state, buffer, f"%w{len(workspace)}", layout_of(state, written))
            workspace.append(written)
    return tuple(workspace)


def enclose(state: State, function: PrimFunc, workspace: tuple[Buffer, ...], *, are_distinct: bool) -> str:
    """Return the whole module: the body as a function of typed parameters, and the entry that calls it."""
    written = written_buffers(function)
    code = state.code
    code.entry[:0] = [
        f"%site = getelementptr i8, ptr %record, i64 {SITE_OFFSET}",
        f"%values = getelementptr i8, ptr %record, i64 {VALUES_OFFSET}",
    ]
    unpacking: list[str] = []
    params: list[str] = []
    head: list[str] = []
    alias = "noalias " if are_distinct else ""
    for number, param in enumerate(function.params):
        buffer = function.buffer_of(param)
        if buffer is not None:
            params.append(f"ptr {_pointer_attributes(state, buffer, alias, is_written=buffer in written)}%a{number}")
            shape = ", ".join(show_prim(dim) for dim in buffer.shape)
            head.append(f"; %a{number} is {buffer.name}: {buffer.dtype}[{shape}]")
        elif param.dtype == "handle":
            params.append(f"ptr %a{number}")
        else:
            params.append(f"{state.scalar_of(param).register} %a{number}")
            head.append(f"; %a{number} is {param.name}: {param.dtype}")
        unpacking += _unpack(state, len(params) - 1, f"a{number}", param)
    for number, symbol in enumerate(shape_symbols(function)):
        params.append(f"{state.scalar_of(symbol).register} %d{number}")
        value = state.bounds.values.get(symbol)
        head.append(f"; %d{number} is {symbol.name}" + ("" if value is None else f" = {value}"))
        unpacking += _unpack(state, len(params) - 1, f"d{number}", symbol)
    for number, buffer in _needed(state, workspace):
        params.append(_workspace_param(state, f"%w{number}"))
        head.append(f"; %w{number} is {buffer.name}, allocated by the caller")
        unpacking += _unpack(state, len(params) - 1, f"w{number}", None)
    if state.emitted.packed_calls:
        params.append("ptr %host")
        unpacking += _unpack(state, len(params) - 1, "host", None)
    return _module_text(state, head, params, unpacking)


def _module_text(state: State, head: list[str], params: list[str], unpacking: list[str]) -> str:
    """Return the text of the module: remarks, the functions of chunks, the body, and the entry that unpacks for it."""
    code = state.code
    parts = enclose_parts(state, params, unpacking)
    mark = function_mark() if code.has_origins else ""
    taken = ", ".join((*params, "ptr noalias align 8 %record"))
    passed = ", ".join(f"{param.split()[0]} {param.split()[-1]}" for param in (*params, "ptr %record"))
    return "\n".join(
        (
            *(" ".join(line.split()) for line in head),
            *parts,
            # Arrays on the stack are larger than the page that guards it: each page is touched when it is taken.
            f'define internal i32 @body({taken}) noinline nounwind "probe-stack"="inline-asm"{mark} {{',
            code.text(),
            "}",
            f"define i32 @{ENTRY}(ptr %slots, ptr %record) nounwind {{",
            *unpacking,
            f"  %code = call i32 @body({passed})",
            "  ret i32 %code",
            "}",
            *code.declarations.values(),
            *code.metadata(),
            *(location_metadata(len(code.origins), 1 + len(state.emitted.parts)) if code.has_origins else ()),
            "",
        )
    )


def _workspace_param(state: State, register: str) -> str:
    """Return a parameter for a buffer that the caller allocates; the bytes beside two arguments overlap if these do."""
    is_beside = any(storage.pointer == register for storage in state.environment.written.values())
    return f"ptr {register}" if is_beside else f"ptr noalias align 16 {register}"


def _needed(state: State, workspace: tuple[Buffer, ...]) -> list[tuple[int, Buffer]]:
    """Return the buffers that the caller allocates, with their numbers."""
    return [(number, buffer) for number, buffer in enumerate(workspace) if buffer not in state.environment.contracted]


def _pointer_attributes(state: State, buffer: Buffer, alias: str, *, is_written: bool) -> str:
    scalar = state.scalar_of(buffer)
    size = 0 if buffer.strides else _constant_bytes(state, buffer)
    known = f"dereferenceable({size}) " if size else ""
    return f"{alias}{'' if is_written else 'readonly '}align {scalar.size_bytes} {known}"


def _unpack(state: State, position: int, name: str, var: PrimVar | None) -> list[str]:
    """Return the loads of one slot as the type of `var`; a handle or no variable is a pointer."""
    lines = [f"  %{name}.at = getelementptr i64, ptr %slots, i64 {position}"]
    if var is None or var.dtype == "handle":
        return [*lines, f"  %{name} = load ptr, ptr %{name}.at, align 8"]
    scalar = state.scalar_of(var)
    lines.append(f"  %{name}.word = load i64, ptr %{name}.at, align 8")
    return [*lines, *_from_word(scalar, name)]


def _from_word(scalar: ScalarType, name: str) -> list[str]:
    if scalar.kind == "float":
        bits = f"i{scalar.bits}"
        narrow = [f"  %{name}.bits = {_narrow(f'%{name}.word', bits)}"]
        return [*narrow, f"  %{name} = bitcast {bits} %{name}.bits to {scalar.register}"]
    return [f"  %{name} = {_narrow(f'%{name}.word', scalar.register)}"]


def _narrow(word: str, llvm: str) -> str:
    return f"add i64 {word}, 0" if llvm == "i64" else f"trunc i64 {word} to {llvm}"


def _storage(state: State, buffer: Buffer, pointer: str, alignment: int) -> Storage:
    extents, strides = layout_of(state, buffer)
    scalar = state.scalar_of(buffer)
    return Storage(pointer, extents, strides, scalar, min(alignment, scalar.size_bytes))


def _spread(state: State, buffer: Buffer) -> Buffer:
    """Return a row as long as the memory of `buffer`; a stride that goes backwards would leave it."""
    if any(state.bounds.interval(stride).low < 0 for stride in buffer.strides):
        what = f"The allocated buffer `{buffer.name}` with a stride that may be negative"
        raise unsupported(what, buffer, state.locate)
    return spread(buffer)


def _constant_bytes(state: State, buffer: Buffer) -> int | None:
    size = state.scalar_of(buffer).size_bytes
    for dim in buffer.shape:
        extent = state.bounds.constant(dim)
        if extent is None or extent < 0:
            return None
        size *= extent
    return size


def _check_shape(state: State, function: PrimFunc, buffer: Buffer) -> None:
    known = {*shape_symbols(function)}
    for dim in buffer.shape:
        for item in postorder(dim):
            if isinstance(item, PrimVar) and item not in known:
                message = f"The size of the allocated buffer `{buffer.name}` depends on `{item.name}`"
                hint = "Allocate it with a size made of constants and of the dimensions of the parameters."
                raise CompileError((Diagnostic("JT017", message, state.locate(buffer), hint),))
