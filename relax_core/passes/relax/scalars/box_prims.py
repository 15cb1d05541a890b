"""Box host scalars: a PrimValue becomes a tensor of rank 0 where a tensor is wanted."""

import numpy as np

from relax_core.ir.expr import Expr, ExternFunc, PrimType, PrimValue, TensorType, Type, constant
from relax_core.ir.module import IRModule
from relax_core.ir.prim import FloatImm, IntImm
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import dtype_argument, operator_call
from relax_core.passes.relax.scalars.prim_conversion import REPAIRS, Conversion, convert_places

BOX = "vm.builtin.box_prim"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Box every host scalar that stands where a tensor is wanted; a literal becomes a constant."""
    return convert_places(module, ctx, box)


def box(value: Expr, given: Type, expected: Type) -> Conversion | None:
    """Return the tensor of rank 0 that holds `value`; it has the dtype that is expected, if that can hold it."""
    if not isinstance(given, PrimType) or not isinstance(expected, TensorType) or expected.ndim not in (None, 0):
        return None
    if given.dtype in ("string", "handle"):
        return None
    dtype = expected.dtype if expected.dtype is not None and _holds(given.dtype, expected.dtype) else given.dtype
    match value:
        case PrimValue(value=IntImm(value=number) | FloatImm(value=number)):
            return Conversion(constant(number, dtype), 0, is_literal=True)
        case _:
            pass
    type_ = TensorType((), dtype)
    call = operator_call("relax.call_pure_packed", ExternFunc(BOX), value, dtype_argument(dtype), type_args=(type_,))
    return Conversion(call, np.dtype(dtype).itemsize, is_literal=False)


def _holds(given: str, wanted: str) -> bool:
    """A bool or an integer becomes any number, a float only a float."""
    return "float" in wanted or ("float" not in given and (given == wanted or "int" in wanted))


PASS = Pass(
    "BoxPrims",
    "Makes tensors of rank 0 of the host scalars that stand where a tensor is wanted, and says what that costs.",
    run,
    needs=("normal form",),
    repairs=REPAIRS,
)
