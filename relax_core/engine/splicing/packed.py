"""Prim funcs that take packed arguments, as the functions of buffers and scalars that they were before.

Behind MakePackedAPI a function takes a pointer to an array of values, and finds each buffer, size and scalar in it by
position. Its statements stand in an attribute `compute_scope`. The checks of the arguments in front of it are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from relax_core.ir.attrs import attr
from relax_core.ir.node import Node, children, postorder, preorder
from relax_core.ir.prim import (
    Binary,
    Cast,
    IntImm,
    Intrinsic,
    PointerVar,
    PrimExpr,
    PrimVar,
    Select,
    binary,
    const,
    lanes_of,
    scalar_of,
)
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import (
    NOTHING,
    Allocate,
    AssertStmt,
    AttrStmt,
    Buffer,
    BufferParam,
    DeclBuffer,
    IfThenElse,
    LetStmt,
    PrimFunc,
    Stmt,
    seq,
)
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES

PACKED: Final = 1
"""The calling convention of a function with packed arguments."""
COMPUTE: Final = "compute_scope"
DEVICE: Final = 0
"""The number of the device that everything is on."""
_WORKSPACE: Final = "TVMBackendAllocWorkspace"
_POINTERS: Final = ("reinterpret", "handle_add_byte_offset")

# The fields of `tvm_struct_get(handle, index, field)`.
_DATA, _SHAPE, _STRIDES, _BYTE_OFFSET, _DEVICE_ID, _VALUE, _ELEMENT = 1, 2, 3, 8, 9, 15, 17

Field = Literal["argument", "data", "shape", "strides", "device"]


@dataclass(frozen=True, slots=True)
class _Part:
    """What an expression finds in the packed arguments: `field` of the argument `number`."""

    number: int
    field: Field


@dataclass(frozen=True, slots=True)
class _Dimension:
    """The size of the dimension `axis` of the argument `number`."""

    number: int
    axis: int


def is_packed(function: PrimFunc) -> bool:
    """Tell whether `function` takes packed arguments."""
    return attr(function.attrs, "calling_conv") == PACKED


def unpacked(function: PrimFunc, model: PrimFunc) -> PrimFunc | None:
    """Return `function` with the parameters of `model`, found by where it takes them from; `None` if that is not clear.

    `model` is the function before its arguments were packed.
    """
    found = _compute_part(function)
    if found is None:
        return None
    path, body = found
    values = {item.var: item.value for item in path if isinstance(item, LetStmt)}
    meanings = _Meanings(function.params[1] if len(function.params) > 1 else None, values)
    buffers = _buffers(path, meanings)
    scalars = _scalars(path, meanings)
    params: list[PrimVar] = []
    handles: list[BufferParam] = []
    for number, param in enumerate(model.params):
        declared = model.buffer_of(param)
        if declared is None and param.dtype != "handle":
            params.append(scalars.get(number, replace(param)))
            continue
        # An argument that nothing takes is one all the same.
        buffer = buffers.get(number) or declared
        if buffer is None:
            return None
        handle = PrimVar(f"{param.name}_handle", "handle")
        params.append(handle)
        handles.append(BufferParam(handle, buffer))
    whole = _with_values(path, body, meanings, (buffers, frozenset(scalars.values())))
    if whole is None:
        return None
    return PrimFunc(
        tuple(params), tuple(handles), whole, is_private=model.is_private, is_s_tir=False, span=function.span
    )


def _compute_part(function: PrimFunc) -> tuple[tuple[Stmt, ...], Stmt] | None:
    """Return the statements of a packed function that compute, and those around them, from the outside."""
    stack: list[tuple[Node, tuple[Stmt, ...]]] = [(function.body, ())]
    while stack:
        node, path = stack.pop()
        if isinstance(node, AttrStmt) and node.key == COMPUTE:
            return path, node.body
        inner = (*path, node) if isinstance(node, LetStmt | DeclBuffer) else path
        stack += [(item, inner) for item in children(node) if isinstance(item, Stmt)]
    return None


class _Meanings:
    """What the variables and expressions in front of the computation find in the packed arguments."""

    def __init__(self, args: PrimVar | None, values: Mapping[PrimVar, PrimExpr]) -> None:
        self._args = args
        self._values = values

    def of(self, expr: PrimExpr) -> _Part | _Dimension | None:
        """Return what `expr` finds, `None` if it is nothing of the arguments."""
        while True:
            match expr:
                case PrimVar() if expr in self._values:
                    expr = self._values[expr]
                case Cast(value=value) | Select(true_value=value):
                    # A tensor object holds the same as the pointer that a caller may give in its place.
                    expr = value
                case Intrinsic(name=name, args=(value, *_)) if name in _POINTERS:
                    expr = value
                case Intrinsic(name="if_then_else", args=(_, value, _)):
                    expr = value
                case Intrinsic(name="tvm_struct_get", args=(base, IntImm(value=index), IntImm(value=field), *_)):
                    return self._taken(base, index, field)
                case _:
                    return None

    def _taken(self, base: PrimExpr, index: int, field: int) -> _Part | _Dimension | None:
        if base is self._args:
            return _Part(index, "argument") if field == _VALUE else None
        match self.of(base), field:
            case _Part(number=number, field="argument"), int():
                named: dict[int, Field] = {_DATA: "data", _SHAPE: "shape", _STRIDES: "strides", _DEVICE_ID: "device"}
                return _Part(number, named[field]) if field in named else None
            case _Part(number=number, field="shape"), int() if field == _ELEMENT:
                return _Dimension(number, index)
            case _:
                return None


def _buffers(path: tuple[Stmt, ...], meanings: _Meanings) -> dict[int, Buffer]:
    """Return the buffers that are declared on the memory of arguments, by position."""
    found: dict[int, Buffer] = {}
    for item in path:
        if isinstance(item, DeclBuffer) and item.pointer is not None:
            part = meanings.of(item.pointer)
            if isinstance(part, _Part) and part.field == "data":
                found.setdefault(part.number, item.buffer)
    return found


def _scalars(path: tuple[Stmt, ...], meanings: _Meanings) -> dict[int, PrimVar]:
    """Return the variables that hold scalar arguments, by position."""
    found: dict[int, PrimVar] = {}
    for item in path:
        if isinstance(item, LetStmt) and item.var.dtype != "handle":
            part = meanings.of(item.var)
            if isinstance(part, _Part) and part.field == "argument":
                found.setdefault(part.number, item.var)
    return found


def _with_values(
    path: tuple[Stmt, ...], body: Stmt, meanings: _Meanings, known: tuple[Mapping[int, Buffer], frozenset[PrimVar]]
) -> Stmt | None:
    """Return `body` within the lets in front of it that it needs: sizes that no buffer's shape binds, and the rest.

    It is `None` if a size is taken from a dimension that no buffer has.
    """
    buffers, scalars = known
    kept: list[LetStmt] = []
    bound = {var for buffer in buffers.values() for dim in buffer.shape for var in _variables(dim)}
    for item in path:
        if not isinstance(item, LetStmt) or item.var.dtype == "handle" or item.var in scalars:
            continue
        match meanings.of(item.var):
            case _Dimension(number=number, axis=axis):
                buffer = buffers.get(number)
                shape = () if buffer is None else buffer.shape
                if axis >= len(shape):
                    return None
                # Taken from another dimension than the one with its name, it has another value than that.
                if item.var not in bound or shape[axis] is not item.var:
                    kept.append(replace(item, value=shape[axis]))
            case _Part(field="device"):
                kept.append(replace(item, value=const(DEVICE, item.var.dtype)))
            case _Part():
                continue
            case None:
                if not any(isinstance(part, Intrinsic) for part in postorder(item.value)):
                    kept.append(item)
    for item in reversed(kept):
        body = replace(item, body=body)
    used = {*_variables(body)}
    return _without(body, frozenset(item.var for item in kept if item.var not in used))


def _without(body: Stmt, unused: frozenset[PrimVar]) -> Stmt:
    while isinstance(body, LetStmt) and body.var in unused:
        body = body.body
    return body


def _variables(root: Node) -> Iterator[PrimVar]:
    return (item for item in preorder(root) if isinstance(item, PrimVar))


def with_own_memory(function: PrimFunc) -> PrimFunc:
    """Return `function` with memory of its own in place of workspaces that it asks the runtime for and gives back."""

    def owned(node: Node) -> Node | None:
        """Rule: decl_buffer(data=alloc_workspace(...)) -> alloc_buffer(...); checks of workspaces -> nothing."""
        match node:
            case DeclBuffer(pointer=Intrinsic(name=name, args=(_, _, size, *_))) if name == _WORKSPACE:
                return replace(node, pointer=None, body=seq((_large_enough(node.buffer, size), node.body)))
            case LetStmt(
                var=PointerVar() as var, value=Intrinsic(name="TVMBackendAllocWorkspace", args=(_, _, size, *_))
            ):
                count = binary("//", Cast(size, "int64"), const(_size_bytes(var.element), "int64"))
                return Allocate(var, var.element, (count,), var.scope, node.body, span=node.span)
            case IfThenElse(condition=condition, else_body=None) if _asks_for_workspace(condition):
                return NOTHING
            case _:
                return None

    return rewrite(function, owned, log=RewriteLog())


def _asks_for_workspace(condition: PrimExpr) -> bool:
    """Tell whether a condition asks if the runtime failed to give a workspace, or to take it back."""
    match condition:
        case Intrinsic(name="isnullptr"):
            return True
        case Binary(op="!=", a=Intrinsic(name="TVMBackendFreeWorkspace")):
            return True
        case _:
            return False


def _large_enough(buffer: Buffer, size: PrimExpr) -> Stmt:
    """Return the assertion that `size` bytes hold `buffer`, whose memory is as large as it says itself here."""
    needed: PrimExpr = const(_size_bytes(buffer.dtype), "int64")
    for dim in buffer.shape:
        needed = binary("*", needed, Cast(dim, "int64"))
    words = f"the workspace of {buffer.name} is smaller than the buffer"
    return AssertStmt(binary(">=", Cast(size, "int64"), needed), words)


def _size_bytes(dtype: str) -> int:
    scalar = SCALAR_TYPES.get(scalar_of(dtype))
    return lanes_of(dtype) * (1 if scalar is None else scalar.size_bytes)
