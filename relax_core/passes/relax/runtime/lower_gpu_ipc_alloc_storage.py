"""Allocate memory that several processes share by the packed function for it."""

from collections.abc import Sequence

from relax_core.ir.expr import OBJECT, Call, DataTypeImm, Expr, Function, GlobalVar, Op, PrimValue, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import StringImm
from relax_core.ir.rewriting.builder import names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import integer, operator_call, packed_call, rewrite_functions

SCOPE = "ipc_memory"
ALLOCATIONS = ("relax.memory.alloc_storage", "relax.builtin.alloc_tensor")
ALLOCATE = "runtime.disco.cuda_ipc.alloc_storage"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Turn allocations in the scope `ipc_memory` into calls of `runtime.disco.cuda_ipc.alloc_storage`."""

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        names = names_in(function)

        def lower(node: Node) -> tuple[Node, ...] | Node | None:
            """Rule: allocation in ipc_memory -> call of the function that allocates there."""
            match node:
                case VarBinding(
                    var=var, value=Call(op=Op(name="relax.memory.alloc_storage"), args=(size, _, scope, dtype))
                ) if _is_shared(scope):
                    ctx.remark(node, "applied", f"{var.name} is memory that processes share")
                    return VarBinding(var, _allocate(size, dtype))
                case VarBinding(
                    var=var,
                    value=Call(op=Op(name="relax.builtin.alloc_tensor"), args=(dims, DataTypeImm() as dtype, *rest)),
                ) if _is_shared(rest[-1]):
                    storage = Var(names.fresh("gv"))
                    ctx.remark(node, "applied", f"{var.name} lies in memory that processes share")
                    return VarBinding(storage, _allocate(dims, dtype)), _tensor(var, storage, dims, dtype, rest)
                case VarBinding(var=var, value=Call(op=Op(name=name))) if name in ALLOCATIONS:
                    ctx.remark(node, "missed", f"{var.name} stays: its memory is not in the scope {SCOPE}")
                    return None
                case _:
                    return None

        return (lower,)

    return rewrite_functions(module, ctx, rules_for)


def _is_shared(scope: Expr) -> bool:
    return isinstance(scope, PrimValue) and isinstance(scope.value, StringImm) and scope.value.value == SCOPE


def _allocate(size: Expr, dtype: Expr) -> Call:
    return packed_call(ALLOCATE, size, dtype, result=OBJECT)


def _tensor(var: Var, storage: Var, dims: Expr, dtype: Expr, rest: Sequence[Expr]) -> VarBinding:
    return VarBinding(var, operator_call("relax.memory.alloc_tensor", storage, integer(0), dims, dtype, rest[0]))


PASS = Pass(
    "LowerGPUIPCAllocStorage",
    "Allocates memory in the scope ipc_memory by the packed function for it.",
    run,
    needs=("normal form",),
    see="tvm/python/tvm/relax/transform/lower_gpu_ipc_alloc_storage.py",
)
