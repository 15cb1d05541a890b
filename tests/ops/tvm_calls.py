"""Calls of the pinned apache-tvm that are made from cases: their types, and their values where it runs them."""

from typing import Any

import numpy as np

from tests.apache_tvm import relax, tirx, tvm
from tests.narrow import is_array, is_tuple
from tests.ops.cases import Case
from tests.ops.reading import index_map_of

SYMBOLS = {size: tirx.Var(name, "int64") for size, name in ((2, "n"), (3, "m"), (4, "k"), (5, "b"))}
_BY_OP = ("inspect.",)


class TvmCall:
    """A call of an operator, and the variables that it takes with their values."""

    def __init__(self, case: Case, *, is_symbolic: bool) -> None:
        self.is_symbolic = is_symbolic
        self.is_bare = case.op.startswith(_BY_OP)
        self.inputs: list[tuple[Any, Any]] = []
        params = case.spec.params
        args = [self._arg(p.kind, p.name, p.dtype, v) for p, v in zip(params, case.args, strict=True)]
        if self.is_bare:
            self.expr = relax.Call(tvm.ir.Op.get(case.spec.name), args)
            return
        operator = relax.op
        for part in case.op.replace("dist.", "distributed.").split("."):
            operator = getattr(operator, part)
        given = {p.name: arg for p, arg in zip(params, args, strict=True) if arg is not None}
        self.expr = operator(**_renamed(case.op, given))

    def _dims(self, shape: tuple[int, ...]) -> list[Any]:
        return [SYMBOLS.get(size, size) if self.is_symbolic else size for size in shape]

    def _tensor(self, value: Any) -> Any:
        var = relax.Var(f"x{len(self.inputs)}", relax.TensorType(self._dims(value.shape), str(value.dtype)))
        self.inputs.append((var, value))
        return var

    def _arg(self, kind: str, name: str, dtype: str | None, value: Any) -> Any:
        match kind:
            case _ if value is None:
                return None
            case "tuple":
                return [self._tensor(item) for item in value]
            case "index_map":
                return index_map_of(value)
            case _ if is_array(value):
                return self._tensor(value)
            case "shape" | "expr" if is_tuple(value):
                return relax.ShapeExpr(self._dims(value))
            case "axes" | "ints":
                return list(value) if is_tuple(value) else value
            case "prim" if self.is_bare:
                return tirx.const(value, dtype)
            case _ if name in ("on_value", "off_value"):
                return relax.prim_value(tirx.const(value, "int64" if isinstance(value, int) else "float32"))
            case _:
                return value


def _renamed(op: str, given: dict[str, Any]) -> dict[str, Any]:
    """Fit names to TVM's Python functions where they differ from what the text prints."""
    if op == "grad.take_backward":
        given.pop("mode", None)
    if op == "strided_slice":
        for name in ("axes", "begin", "end", "strides"):
            if name in given:
                given[name] = relax.Tuple([relax.prim_value(item) for item in given[name]])
    return given


def type_of(call: TvmCall) -> Any:
    """Return the type that TVM infers; some of its functions make several calls, which need a block."""
    builder = relax.BlockBuilder()
    with builder.function("f", [var for var, _ in call.inputs]):
        result = builder.emit(call.expr)
        builder.emit_func_output(result)
    return result.ty


def build(calls: list[TvmCall]) -> Any:
    """Build one function per call and return the machine that runs them as f0, f1, ..."""
    builder = relax.BlockBuilder()
    for number, call in enumerate(calls):
        with builder.function(f"f{number}", [var for var, _ in call.inputs]):
            with builder.dataflow():
                result = builder.emit_output(builder.emit(call.expr))
            builder.emit_func_output(result)
    executable = tvm.compile(builder.finalize(), target=tvm.target.Target("llvm"))
    return relax.VirtualMachine(executable, tvm.cpu())


def run(machine: Any, number: int, call: TvmCall) -> tuple[Any, ...]:
    """Run one function on the values of its call."""
    arrays = [tvm.runtime.tensor(np.ascontiguousarray(value).reshape(value.shape)) for _, value in call.inputs]
    result = machine[f"f{number}"](*arrays)
    if isinstance(result, tvm.runtime.ShapeTuple):
        return (tuple(int(item) for item in result),)
    items = [result] if isinstance(result, int | float | bool | tvm.runtime.Tensor) else list(result)
    return tuple(item if isinstance(item, int | float | bool) else item.numpy() for item in items)
