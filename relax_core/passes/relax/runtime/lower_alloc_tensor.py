"""Give every tensor that the program allocates its own storage."""

from collections.abc import Iterator, Mapping
from functools import partial

from relax_core.ir.expr import (
    Call,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Op,
    ShapeExpr,
    ShapeType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import simplify
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, PrimExpr, binary, is_number
from relax_core.ir.rewriting.builder import names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import dtype_argument, integer, operator_call, rewrite_functions, shape
from relax_core.passes.remarks import UnnumberedRemark

DTYPE_BYTES = (("64", 8), ("32", 4), ("16", 2), ("8", 1))


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Split `builtin.alloc_tensor` into storage of as many bytes and a tensor in it."""
    type_of = ctx.types_when_read(module)

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        names = names_in(function)

        def split(node: Node) -> tuple[Node, ...] | None:
            """Rule: x = builtin.alloc_tensor(s) -> y = memory.alloc_storage(bytes of s); x = memory.alloc_tensor(y)."""
            match node:
                case VarBinding(
                    value=Call(op=Op(name="relax.builtin.alloc_tensor"), args=(dims, DataTypeImm() as dtype, *rest))
                ):
                    storage = Var(names.fresh("storage"))
                    device, scope = rest
                    size, unit = _size(dims, dtype.value, type_of)
                    made = operator_call("relax.memory.alloc_storage", size, device, scope, dtype_argument(unit))
                    tensor = operator_call("relax.memory.alloc_tensor", storage, integer(0), dims, dtype, device)
                    ctx.remark_on_reading(partial(_explained, node, size, unit))
                    return VarBinding(storage, made), VarBinding(node.var, tensor)
                case _:
                    return None

        return (split,)

    return rewrite_functions(module, ctx, rules_for, (VarBinding,))


def _explained(binding: VarBinding, size: Expr, unit: str) -> Iterator[UnnumberedRemark]:
    """Say where a tensor lies, and if its bytes are not counted here, why."""
    name = binding.var.name
    match size:
        case ShapeExpr(values=(count,)) if unit == "uint8":
            bytes_ = show_prim(count)
            yield UnnumberedRemark(
                binding, "applied", f"{name} lies at the start of a storage of its own, {bytes_} bytes"
            )
        case _:
            yield UnnumberedRemark(binding, "applied", f"{name} lies at the start of a storage of its own")
            message = f"the bytes of {name} are counted when the program runs: its dimensions are not known one by one"
            yield UnnumberedRemark(binding, "missed", message, (size,))


def _size(dims: Expr, dtype: str, type_of: Mapping[Node, Type]) -> tuple[Expr, str]:
    """The size of the storage, and its unit: bytes if the dimensions are known one by one, else elements."""
    if isinstance(dims, ShapeExpr):
        values: tuple[PrimExpr, ...] | None = dims.values
    else:
        type_ = type_of.get(dims)
        values = type_.values if isinstance(type_, ShapeType) else None
    if values is None:
        return dims, dtype
    total: PrimExpr = IntImm(dtype_bytes(dtype))
    for value in values:
        total = _times(total, value)
    return shape((total,)), "uint8"


def _times(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Multiply numbers at the front, as TVM does: the order of a symbolic product is that of the shape."""
    if is_number(a, 1) or is_number(b, 1):
        return b if is_number(a, 1) else a
    product = binary("*", a, b)
    return simplify(product) if isinstance(a, IntImm) and isinstance(b, IntImm) else product


def dtype_bytes(dtype: str) -> int:
    """Return the size of one element; a truth value takes one byte."""
    return next((size for digits, size in DTYPE_BYTES if dtype.endswith(digits)), 1)


PASS = Pass(
    "LowerAllocTensor",
    "Splits each tensor allocation into a storage of so many bytes and a tensor that lies in it.",
    run,
    gives=("explicit storage",),
    needs=("normal form",),
    breaks=("runtime builtins",),
    see="tvm/src/relax/transform/lower_alloc_tensor.cc",
)
