"""The definition of a function in NumPy: of a Relax function operator by operator, of a kernel by its operator."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relax_core.bytecode.build import build
from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.check.infer import infer
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Function,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    Type,
    Var,
)
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr, PrimVar, StringImm
from relax_core.ir.tir import PrimFunc
from relax_core.ops import find
from relax_core.ops.spec import Legalized, OpSpec
from relax_core.vm.changes.replace import NoReferenceError
from relax_core.vm.context import Context, fail
from relax_core.vm.external.operators import run_operator
from relax_core.vm.external.packed import Packed
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.convert import to_value
from relax_core.vm.objects.values import Array, Closure, DTypeValue, ShapeValue, Value, describe


def reference_of(
    executable: Executable, entry: FunctionEntry, modules: Callable[[], Sequence[IRModule]], limits: Limits
) -> Packed:
    """Return the definition of a function; `modules` are the forms of the program in Relax, from the text on.

    Raises:
        NoReferenceError: nothing defines it in NumPy.
    """
    match entry.kind:
        case "vm":
            return _of_function(entry.name, modules()[0], limits)
        case "kernel":
            return _of_kernel(executable, entry.name, modules())
        case _ if find(entry.name) is not None:
            raise NoReferenceError("it is an operator that was not lowered, and is computed by it")
        case _:
            raise NoReferenceError("it is a packed function, of which the module tells no more than its name")


def _of_function(name: str, module: IRModule, limits: Limits) -> Packed:
    """Return a Relax function of the first form, with nothing lowered."""
    if not isinstance(found := module.find(name), Definition) or not isinstance(found.function, Function):
        raise NoReferenceError("passes made it, the text has no such function")
    executable = build(module, passes="")
    machine = Machine(executable, limits=limits, record=False)
    closure = Closure(executable.index_of[name], name)

    def call(*args: Any) -> Any:
        return machine.call_closure(closure, tuple(map(to_value, args)))

    return Packed(name, call, is_pure=True, writes=())


def _of_kernel(executable: Executable, name: str, modules: Sequence[IRModule]) -> Packed:
    """Return the operator that a prim func was made of."""
    for call in _operator_calls(executable, executable.kernels[name]):
        for types in map(_types, modules):
            found = _lowered(call, types)
            if found is not None:
                return _Lowered(*found, call, types).packed(name)
    raise NoReferenceError("the types of its operator leave open how it was lowered")


def _types(module: IRModule) -> Mapping[Node, Type]:
    return infer(module).types


def _operator_calls(executable: Executable, kernel: PrimFunc) -> list[Call]:
    """Return the calls of an operator that a prim func stems from."""
    node: Node = kernel
    while True:
        origins = executable.log.origins_of(node)
        calls = [item for item in origins if isinstance(item, Call) and isinstance(item.op, Op)]
        kernels = [item for item in origins if isinstance(item, PrimFunc)]
        if not origins:
            raise NoReferenceError("it is a prim func of the text, and no operator")
        if len(calls) == len(origins):
            return calls
        if len(origins) != 1 or not kernels:
            raise NoReferenceError("passes made it of several functions")
        node = kernels[0]


def _lowered(call: Call, types: Mapping[Node, Type]) -> tuple[OpSpec, Legalized] | None:
    spec = find(call.op.name) if isinstance(call.op, Op) else None
    out = types.get(call)
    arg_types = tuple(types[item] for item in call.args if item in types)
    if spec is None or spec.legalize is None or spec.evaluate is None or out is None:
        return None
    made = spec.legalize(call, arg_types, out) if len(arg_types) == len(call.args) else None
    return None if made is None else (spec, made)


@dataclass(frozen=True, slots=True)
class _Lowered:
    """A call of an operator, and what it was lowered to."""

    spec: OpSpec
    made: Legalized
    call: Call
    types: Mapping[Node, Type]

    def packed(self, name: str) -> Packed:
        """Return the operator as a function of what its prim func takes: inputs, outputs, sizes."""
        first, count = len(self.made.args), len(self.made.out)

        def call(context: Context, *args: Any) -> None:
            inputs, outputs = args[:first], args[first : first + count]
            sizes = dict(self._sizes(inputs, args[first + count :]))
            known: dict[Expr, Value] = dict(zip(self.made.args, inputs, strict=True))
            values = tuple(self._value(item, known, sizes) for item in self.call.args)
            result = run_operator(context, self.spec, values)
            for output, value in zip(outputs, result if isinstance(result, tuple) else (result,), strict=True):
                _put(self.spec, output, value)

        return Packed(name, call, writes=tuple(range(first, first + count)), takes_context=True)

    def _sizes(self, inputs: Iterable[Array], scalars: Iterable[int]) -> Iterator[tuple[PrimVar, int]]:
        for expr, array in zip(self.made.args, inputs, strict=True):
            type_ = self.types.get(expr)
            dims = type_.dims if isinstance(type_, TensorType) else None
            for dim, size in zip(dims or (), array.shape, strict=False):
                if isinstance(dim, PrimVar):
                    yield dim, size
        for var, value in zip(self.made.tir_vars, scalars, strict=False):
            if isinstance(var, PrimVar):
                yield var, int(value)

    def _value(self, expr: Expr, known: Mapping[Expr, Value], sizes: Mapping[PrimVar, int]) -> Value:
        if expr in known:
            return known[expr]
        match expr:
            case Tuple(fields=fields):
                return tuple(self._value(item, known, sizes) for item in fields)
            case Constant(data=data):
                return data
            case PrimValue(value=StringImm(value=text)):
                return text
            case PrimValue(value=value):
                return self._number(value, sizes)
            case ShapeExpr(values=values):
                return ShapeValue(int(self._number(item, sizes)) for item in values)
            case DataTypeImm(value=dtype):
                return DTypeValue(dtype)
            case Null():
                return None
            case _:
                what = f"`{expr.name}`" if isinstance(expr, Var) else "an argument"
                fail("VM017", f"{what} of operator `{self.spec.name}` is no argument of its kernel")

    def _number(self, value: PrimExpr, sizes: Mapping[PrimVar, int]) -> Any:
        try:
            return evaluate(value, sizes)
        except NoValueError:
            fail("VM017", f"a size that operator `{self.spec.name}` needs is no size of its arguments")


def _put(spec: OpSpec, output: Array, value: Value) -> None:
    if not isinstance(value, np.ndarray) or value.shape != output.shape or value.dtype != output.dtype:
        fail("VM017", f"operator `{spec.name}` gives {describe(value)}, its kernel {describe(output)}")
    output[...] = value
