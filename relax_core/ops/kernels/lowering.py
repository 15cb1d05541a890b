"""A call of an operator on its way to a prim func: its tensors as buffers, its scalars in the prim func's terms."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from relax_core.ir.expr import Call, Dims, Expr, Tuple, TupleGetItem, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer
from relax_core.ops.kernels.te import FuncBuilder, Known, Operand, known, load
from relax_core.ops.operands import is_absent, scalar_at
from relax_core.ops.spec import Legalize, Legalized

Build: TypeAlias = "Callable[[Lowering], Buffer | Sequence[Buffer]]"


class _NotKnownError(Exception):
    """A type that the prim func needs is not known well enough."""


class Lowering:
    """One call: `input` and its kin add parameters, `results` are the types of what it gives."""

    def __init__(self, name: str, call: Call, arg_types: tuple[Type, ...], out_type: Type) -> None:
        self.call = call
        self.arg_types = arg_types
        self.builder = FuncBuilder(name)
        types = out_type.fields if isinstance(out_type, TupleType) else (out_type,)
        self.results = tuple(_known(item) for item in types)

    @property
    def result(self) -> Known:
        """The type of the only or the first result."""
        return self.results[0]

    def shape(self, index: int = 0) -> tuple[PrimExpr, ...]:
        """Return the dimensions of a result in terms of the prim func."""
        return self.builder.shape(self.results[index].dims)

    def input(self, index: int, hint: str = "x") -> Buffer:
        """Add the tensor argument at `index` as a parameter."""
        return self.builder.input(self.call.args[index], _known(self.arg_types[index]), hint)

    def optional(self, index: int, hint: str) -> Buffer | None:
        """Add the tensor argument at `index` as a parameter if it is there."""
        return None if is_absent(self.call, index) else self.input(index, hint)

    def fields(self, index: int, hint: str = "tensor") -> tuple[Buffer, ...]:
        """Add the fields of the tuple argument at `index` as parameters."""
        type_ = self.arg_types[index]
        assert isinstance(type_, TupleType), "the call has a type"
        exprs = fields_of(self.call.args[index], len(type_.fields))
        return tuple(self.builder.input(arg, _known(item), hint) for arg, item in zip(exprs, type_.fields, strict=True))

    def operand(self, index: int, hint: str) -> Operand:
        """Add the tensor argument at `index` as an operand that broadcasts to the result."""
        return self.builder.operand(self.call.args[index], _known(self.arg_types[index]), hint)

    def need(self, dims: Dims | None) -> Dims:
        """Return dimensions without which there is no prim func."""
        if dims is None:
            raise _NotKnownError
        return dims

    def number(self, dim: PrimExpr) -> int:
        """Return a dimension that must be a number for there to be a prim func."""
        found = constant_value(dim)
        if found is None:
            raise _NotKnownError
        return found

    def scalar(self, index: int) -> PrimExpr:
        """Return the scalar argument at `index` in terms of the prim func."""
        value = scalar_at(self.call, self.arg_types, index)
        if value is None:
            raise _NotKnownError
        return self.builder.own(value)

    def compute(
        self, shape: Sequence[PrimExpr], element: Callable[..., PrimExpr], name: str = "compute", *, axis: str = "ax"
    ) -> Buffer:
        """Add a block that computes each element; see `FuncBuilder.compute`."""
        return self.builder.compute(shape, element, name, axis=axis)

    def copy(self, source: Buffer, name: str = "T_copy") -> Buffer:
        """Add a block that copies a buffer, which can be written further."""
        return self.compute(source.shape, lambda *indices: load(source, indices), name)


def fields_of(arg: Expr, count: int) -> tuple[Expr, ...]:
    """Return the fields of a tuple argument as expressions."""
    return arg.fields if isinstance(arg, Tuple) else tuple(TupleGetItem(arg, k) for k in range(count))


def lowered(name: str, build: Build) -> Legalize:
    """Return the legalization that `build` describes; a call whose types are not known well enough stays."""

    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        try:
            lowering = Lowering(name, call, arg_types, out_type)
            made = build(lowering)
        except _NotKnownError:
            return None
        if isinstance(out_type, TupleType) and len(out_type.fields) == 1:
            # `call_tir` with one type gives a tensor, never a tuple of one.
            return None
        return lowering.builder.finish(made, lowering.results[: 1 if isinstance(made, Buffer) else len(made)])

    return legalize


def _known(type_: Type) -> Known:
    found = known(type_)
    if found is None:
        raise _NotKnownError
    return found
