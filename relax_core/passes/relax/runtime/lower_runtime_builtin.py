"""Turn operators of the run time into calls of its builtins."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from relax_core.analysis.device.virtual_devices import copy_arguments
from relax_core.check.inference import TypesWhenRead
from relax_core.ir.expr import (
    OBJECT,
    Call,
    DataTypeImm,
    Expr,
    ExternFunc,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.ir.prim import StringImm
from relax_core.ops import OPS
from relax_core.ops.spec import OpTypeError
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import (
    allocated_type,
    context_call,
    declared_type,
    dtype_argument,
    integer,
    operator_call,
    packed_call,
    rewrite_functions,
    string,
)
from relax_core.passes.relax.runtime.size_conditions import depends_on_sizes
from relax_core.passes.remarks import value_name

Lower: TypeAlias = Callable[[Call, Mapping[Node, Type]], Expr | None]


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Apply the table `LOWER` to every operator call.

    As in TVM, `print` and `assert_op` are left: LegalizeOps lowers them, and the machine runs them as they are. A
    closure keeps the type of its function, which is only an object in TVM, and a copy to a device none of the
    operator's attributes.
    """
    type_of = _TypesOfTensors(module, ctx)

    def lower(node: Node) -> Node | None:
        """Rule: operator of the run time -> call of its builtin."""
        match node:
            case Call(op=Op(name=name)) if name in LOWER:
                made = LOWER[name](node, type_of)
                if made is None:
                    message = "stays an operator: what it checks or works out is not known before the program runs"
                    ctx.remark(node, "missed", f"{value_name(node)} {message}")
                return made
            case _:
                return None

    ctx.remark_replacements(lower, lambda item: f"{value_name(item.before)} becomes {_callee(item.after[0])}")
    return rewrite_functions(module, ctx, lambda _var, _function: (lower,), (Call,))


class _TypesOfTensors(TypesWhenRead):
    """The types of a module; what an allocation or a declaration says of a tensor needs no inference."""

    def __init__(self, module: IRModule, ctx: PassContext) -> None:
        super().__init__(lambda: ctx.types(module))
        self._module = module

    @cached_property
    def _allocated(self) -> Mapping[Node, Type]:
        found: dict[Node, Type] = {}
        for _, function in self._module.relax_functions:
            for node in nodes_in(function):
                # A variable may be another name of a tensor.
                if isinstance(node, VarBinding) and (made := allocated_type(node.value) or found.get(node.value)):
                    found[node.var] = made
        return found

    def __getitem__(self, node: Node) -> Type:
        known = declared_type(node) if isinstance(node, Expr) else None
        return known or self._allocated.get(node) or super().__getitem__(node)


def _callee(call: Node) -> str:
    """Name what a lowered operator calls."""
    match call:
        case Call(op=ExternFunc(name=name)) | Call(args=(ExternFunc(name=name), *_)):
            return f"a call of {name}"
        case _:
            return value_name(call)


def _result(call: Call, type_of: Mapping[Node, Type], default: Type = OBJECT) -> Type:
    return type_of.get(call, default)


def _reshape(call: Call, type_of: Mapping[Node, Type]) -> Expr | None:
    """`reshape(x, shape)` is a view; what only the operator can check or work out, such as a -1, is left to it."""
    spec = OPS["relax.reshape"]
    _, target = call.args
    tensor, shape = (type_of.get(arg, OBJECT) for arg in call.args)
    if not isinstance(target, ShapeExpr | Var) or not isinstance(shape, ShapeType):
        return None
    if any(constant_value(size) in (-1, 0) for size in shape.values or ()):
        return None
    if depends_on_sizes(spec, call, (tensor, shape)):
        return None
    try:
        result = spec.infer(call, (tensor, shape))
    except OpTypeError:
        return None
    return packed_call("vm.builtin.reshape", *call.args, result=result)


def _alloc_storage(call: Call, _: Mapping[Node, Type]) -> Expr:
    """`memory.alloc_storage` counts bytes whatever its dtype is, `vm.alloc_storage` elements of its dtype.

    Sizes that are known only as a whole are those of a tensor, whose elements LowerAllocTensor counts.
    """
    size, device, scope, dtype = call.args
    unit = dtype_argument("uint8") if isinstance(size, ShapeExpr) else dtype
    return operator_call("relax.vm.alloc_storage", size, device, unit, scope)


def _alloc_tensor(call: Call, _: Mapping[Node, Type]) -> Expr:
    return operator_call("relax.vm.alloc_tensor", *call.args)


def _kill(call: Call, _: Mapping[Node, Type]) -> Expr:
    return operator_call("relax.vm.kill_object", *call.args)


def _make_closure(call: Call, _: Mapping[Node, Type]) -> Expr:
    function, captures = call.args
    return packed_call("vm.builtin.make_closure", function, *_fields(captures), result=OBJECT)


def _invoke_closure(call: Call, type_of: Mapping[Node, Type]) -> Expr:
    closure, arguments = call.args
    result = call.type_args[0] if call.type_args else _result(call, type_of)
    return context_call("vm.builtin.invoke_closure", closure, *_fields(arguments), result=result)


def _to_vdevice(call: Call, type_of: Mapping[Node, Type]) -> Expr | None:
    """Return the copy to a device. TVM leaves the attributes of the operator on it, which nothing reads."""
    match call.args:
        case (source, PrimValue(value=StringImm(value=str(device)))):
            kind, index, scope = copy_arguments(device)
            args = (source, integer(kind), integer(index), string(scope))
            return packed_call("vm.builtin.to_device", *args, result=_result(call, type_of))
        case _:
            return None


def _fields(value: Expr) -> tuple[Expr, ...]:
    return value.fields if isinstance(value, Tuple) else (value,)


def _call_tir_dyn(call: Call, _: Mapping[Node, Type]) -> Expr:
    function, arguments = call.args
    return packed_call("vm.builtin.call_tir_dyn", function, *_fields(arguments))


def _view(call: Call, type_of: Mapping[Node, Type]) -> Expr | None:
    """`memory.view(x, shape, dtype, offset)`: what the call leaves out, its type tells; the offset is 0 then."""
    source, shape, _, offset = call.args
    result = _result(call, type_of)
    if not isinstance(result, TensorType) or result.dtype is None:
        return None
    if isinstance(result.shape, tuple):
        shape = ShapeExpr(result.shape)
    elif not isinstance(type_of.get(shape), ShapeType):
        return None
    start = offset if isinstance(type_of.get(offset), PrimType) else integer(0)
    return Call(ExternFunc("runtime.TVMTensorCreateView"), (source, shape, DataTypeImm(result.dtype), start))


def _packed(name: str) -> Lower:
    def lower(call: Call, type_of: Mapping[Node, Type]) -> Expr:
        return packed_call(name, *call.args, result=_result(call, type_of))

    return lower


LOWER: Mapping[str, Lower] = MappingProxyType(
    {
        "relax.reshape": _reshape,
        "relax.shape_of": _packed("vm.builtin.shape_of"),
        "relax.tensor_to_shape": _packed("vm.builtin.tensor_to_shape"),
        "relax.vm.call_tir_dyn": _call_tir_dyn,
        "relax.memory.view": _view,
        "relax.memory.ensure_zero_offset": _packed("vm.builtin.ensure_zero_offset"),
        "relax.to_vdevice": _to_vdevice,
        "relax.make_closure": _make_closure,
        "relax.invoke_closure": _invoke_closure,
        "relax.invoke_pure_closure": _invoke_closure,
        "relax.memory.alloc_storage": _alloc_storage,
        "relax.memory.alloc_tensor": _alloc_tensor,
        "relax.memory.kill_storage": _kill,
        "relax.memory.kill_tensor": _kill,
    }
)

PASS = Pass(
    "LowerRuntimeBuiltin",
    "Turns closures, allocation, reshape, views and the like into calls of the machine's builtins.",
    run,
    needs=("explicit storage",),
    gives=("runtime builtins",),
    see="tvm/src/relax/backend/vm/lower_runtime_builtin.cc",
)
