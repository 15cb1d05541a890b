"""Calls of packed functions as they were before LowerTVMBuiltin wrote out their arguments.

Behind it a call is a row of stores: of extents into an array of shapes, of fields into an array of tensors, of values
with their kinds into an array of arguments; and then the call, which names the arguments by where they stand there.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from relax_core.ir.node import Node
from relax_core.ir.prim import Cast, IntImm, Intrinsic, PrimExpr, PrimVar, StringImm, const
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, Evaluate, PrimFunc, SeqStmt, Stmt, seq

# The fields of a tensor, and those of an argument, in `tvm_struct_set(array, index, field, value)`.
_DATA, _SHAPE, _STRIDES, _RANK, _CODE, _BITS, _LANES, _BYTE_OFFSET = 1, 2, 3, 4, 5, 6, 7, 8
_KIND, _VALUE = 13, 15
_NAME_OF_CODE: Final = MappingProxyType({0: "int", 1: "uint", 2: "float", 4: "bfloat"})
_BOOL_CODE: Final = 6


class _Kind(IntEnum):
    """The kind of an argument."""

    INTEGER = 1
    BOOL = 2
    FLOAT = 3
    TENSOR = 7
    TEXT = 8


class _UnknownError(Exception):
    """A call is not written as LowerTVMBuiltin does."""


def with_packed_calls(function: PrimFunc) -> PrimFunc:
    """Return `function` with its lowered calls of packed functions naming their arguments again.

    Statements with a call that is written otherwise stay as they are.
    """

    def raised(node: Node) -> Node | None:
        """Rule: stores of arguments; call_packed_lowered(...) -> call_packed(...)."""
        if not isinstance(node, SeqStmt) or not any(_lowered(item) for item in node.stmts):
            return None
        try:
            return seq(tuple(_raised(node.stmts)))
        except _UnknownError:
            return None

    return rewrite(function, raised, log=RewriteLog())


def _lowered(stmt: Stmt) -> Intrinsic | None:
    match stmt:
        case Evaluate(value=Intrinsic(name="call_packed_lowered") as call):
            return call
        case _:
            return None


def _raised(stmts: Sequence[Stmt]) -> Iterator[Stmt]:
    stored = _Stored()
    for stmt in stmts:
        if stored.note(stmt):
            continue
        if (call := _lowered(stmt)) is not None:
            yield from stored.others()
            yield Evaluate(stored.call(call), span=stmt.span)
        else:
            yield from stored.stmts
            yield stmt
        stored = _Stored()
    yield from stored.stmts


class _Stored:
    """What a row of stores puts into arrays."""

    def __init__(self) -> None:
        self.stmts: list[Stmt] = []
        self._fields: dict[tuple[PrimVar, int, int], PrimExpr] = {}
        self._elements: dict[tuple[Buffer, int], PrimExpr] = {}

    def note(self, stmt: Stmt) -> bool:
        """Note a store; false if it is none of those that a call may need."""
        match stmt:
            case Evaluate(value=Intrinsic(name="tvm_struct_set", args=(PrimVar() as array, index, part, value))):
                match index, part:
                    case IntImm(value=at), IntImm(value=number):
                        self._fields[array, at, number] = value
                    case _:
                        return False
            case BufferStore(buffer=buffer, indices=(IntImm(value=place),), value=value):
                self._elements[buffer, place] = value
            case _:
                return False
        self.stmts.append(stmt)
        return True

    def call(self, call: Intrinsic) -> Intrinsic:
        """Return a call of a packed function with its arguments."""
        match call.args:
            case StringImm() as name, PrimVar() as array, IntImm(value=first), IntImm(value=end):
                args = tuple(self._argument(array, index) for index in range(first, end))
                return Intrinsic("call_packed", (name, *args), call.dtype, span=call.span)
            case _:
                raise _UnknownError

    def others(self) -> Iterator[Stmt]:
        """Yield the stores that are not for a call: those into buffers that no tensor has its shape in."""
        shapes = {
            value.args[0].buffer
            for (_, _, part), value in self._fields.items()
            if part == _SHAPE and isinstance(value, Intrinsic) and value.args and isinstance(value.args[0], BufferLoad)
        }
        return (item for item in self.stmts if isinstance(item, BufferStore) and item.buffer not in shapes)

    def _number(self, array: PrimVar, index: int, part: int) -> int:
        match self._fields.get((array, index, part)):
            case IntImm(value=value):
                return value
            case _:
                raise _UnknownError

    def _argument(self, array: PrimVar, index: int) -> PrimExpr:
        match self._number(array, index, _KIND), self._fields.get((array, index, _VALUE)):
            case _Kind.TENSOR, Intrinsic(name="tvm_struct_get", args=(PrimVar() as tensors, IntImm(value=at), *_)):
                return self._tensor(tensors, at)
            case _Kind.TEXT, Intrinsic(name="reinterpret", args=(StringImm() as text,)):
                return text
            case _Kind.INTEGER | _Kind.BOOL | _Kind.FLOAT, Cast(value=value):
                return value
            case _Kind.INTEGER | _Kind.BOOL | _Kind.FLOAT, PrimExpr() as value:
                return value
            case _:
                raise _UnknownError

    def _tensor(self, array: PrimVar, index: int) -> PrimExpr:
        data, shape = self._fields.get((array, index, _DATA)), self._fields.get((array, index, _SHAPE))
        rank = self._number(array, index, _RANK)
        match shape, self._fields.get((array, index, _STRIDES)):
            case (
                Intrinsic(name="address_of", args=(BufferLoad(buffer=buffer, indices=(IntImm(value=first),)),)),
                Intrinsic(name="reinterpret", args=(IntImm(value=0),)),
            ):
                dims = tuple(self._elements.get((buffer, place)) for place in range(first, first + rank))
            case _:
                raise _UnknownError
        known = tuple(dim for dim in dims if dim is not None)
        if data is None or len(known) < rank or self._number(array, index, _BYTE_OFFSET):
            raise _UnknownError
        made = Intrinsic("tvm_stack_make_shape", known, "handle")
        zero = const(0, self._dtype(array, index))
        none = const(0, "int32")
        return Intrinsic("tvm_stack_make_array", (data, made, none, const(rank, "int32"), zero, none), "handle")

    def _dtype(self, array: PrimVar, index: int) -> str:
        code, bits, lanes = (self._number(array, index, part) for part in (_CODE, _BITS, _LANES))
        if lanes != 1 or (code not in _NAME_OF_CODE and code != _BOOL_CODE):
            raise _UnknownError
        return "bool" if code == _BOOL_CODE else f"{_NAME_OF_CODE[code]}{bits}"
