"""Unbox tensors of rank 0: they become host scalars where a PrimValue is wanted."""

from relax_core.ir.expr import Constant, Expr, ExternFunc, PrimType, PrimValue, TensorType, Type
from relax_core.ir.module import IRModule
from relax_core.ir.prim import const
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import operator_call
from relax_core.passes.relax.scalars.prim_conversion import REPAIRS, Conversion, convert_places

UNBOX = "vm.builtin.unbox_scalar"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Unbox every tensor of rank 0 that stands where a host scalar is wanted; a constant becomes a literal."""
    return convert_places(module, ctx, unbox)


def unbox(value: Expr, given: Type, expected: Type) -> Conversion | None:
    """Return the host scalar that a tensor of rank 0 holds. On another device than the host its element is copied."""
    if not isinstance(given, TensorType) or not isinstance(expected, PrimType):
        return None
    if given.ndim != 0 or given.dtype is None:
        return None
    if isinstance(value, Constant):
        return Conversion(PrimValue(const(value.data.item(), given.dtype)), 0, is_literal=True)
    result = PrimType(given.dtype)
    return Conversion(
        operator_call("relax.call_pure_packed", ExternFunc(UNBOX), value, type_args=(result,)), 0, is_literal=False
    )


PASS = Pass(
    "UnboxScalars",
    "Makes host scalars of the tensors of rank 0 that stand where a PrimValue is wanted, and says what that costs.",
    run,
    needs=("normal form",),
    repairs=REPAIRS,
)
