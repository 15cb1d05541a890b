"""Drawing from distributions."""

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import integer_tensor_at, out_dtype_at, require_rank, same_sizes
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, as_index, cast, choose, eq, le, least, lit, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import require_float, tensor_at
from relax_core.ops.spec import OpSpec, Param, Value
from relax_core.ops.steps import InSteps

_SEE = "tvm/src/relax/op/tensor/sampling.cc"


def _infer_multinomial(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n, 1)`: one index per sample."""
    prob, uniform = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    rows = integer_tensor_at(call, arg_types, 2)
    for item in (prob, uniform):
        require_float(call, item)
    for item in (prob, uniform, rows):
        require_rank(call, item, 2, "an operand")
    dims = None
    if uniform.dims is not None and rows.dims is not None:
        same_sizes(call, [(uniform.dims[0], rows.dims[0])], (uniform, rows))
        dims = (rows.dims[0], const(1))
    return TensorType(dims, out_dtype_at(call, 3) or "int64", 2)


def _build_multinomial(lowering: Lowering) -> Buffer:
    """The index is how many running sums of the row's probabilities the sample reaches."""
    prob, uniform, rows = (lowering.input(k, hint) for k, hint in enumerate(("prob", "uniform", "rows")))
    dtype, width = lowering.result.dtype, prob.shape[1]

    def running(result: Buffer, at: tuple[PrimExpr, ...]) -> PrimExpr:
        previous = load(result, (at[0], sub(at[1], 1)))
        return choose(eq(at[1], 0), load(prob, at), add(previous, load(prob, at)))

    sums = lowering.builder.scan(prob.shape, running, prob.dtype, "T_cumsum")

    def reached(at: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        row = as_index(load(rows, (at[0], const(0))))
        sample = cast(load(uniform, (at[0], const(0))), prob.dtype)
        return choose(le(load(sums, (row, reduced[0])), sample), lit(1, dtype), lit(0, dtype))

    count = lowering.builder.reduce(lowering.shape(), [("k", width)], reached, "sum", "T_reached")
    last = cast(sub(width, 1), dtype)
    return lowering.compute(count.shape, lambda *i: least(load(count, i), last), "T_multinomial")


@InSteps
def _evaluate_multinomial(args: tuple[Value, ...]) -> Value:
    prob, uniform, rows = (np.asarray(item) for item in args[:3])
    sums = np.add.accumulate(prob, axis=1, dtype=prob.dtype)[rows[:, 0]]
    found = np.minimum((sums <= uniform[:, :1].astype(prob.dtype)).sum(axis=1), prob.shape[1] - 1)
    return found.reshape(-1, 1).astype(args[3] or "int64")


SPECS = (
    OpSpec("relax.multinomial_from_uniform",
           (Param("prob", "tensor"), Param("uniform_sample", "tensor"), Param("sample_indices", "tensor"),
            Param("dtype", "dtype", default="int64")),
           _infer_multinomial, "Draw an index from rows of probabilities, by a uniform sample.",
           evaluate=_evaluate_multinomial, legalize=lowered("multinomial_from_uniform", _build_multinomial),
           see=_SEE),
)  # fmt: skip
