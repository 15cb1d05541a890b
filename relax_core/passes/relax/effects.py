"""Which values may have side effects, and so must not be dropped or moved; which end before their function does."""

from collections.abc import Mapping

from relax_core.ir.expr import Call, Expr, ExternFunc, Function, FuncType, Op, Type, Var
from relax_core.ir.node import Node, nodes_in, outside
from relax_core.ops import OPS

PURE_BUILTINS = frozenset(
    ("vm.builtin.make_closure", "vm.builtin.shape_of", "vm.builtin.reshape", "vm.builtin.make_shape")
)
KILL_CALLS = frozenset(("relax.memory.kill_tensor", "relax.memory.kill_storage", "relax.vm.kill_object"))


def killed_vars(function: Function) -> frozenset[Var]:
    """Return the variables whose value is ended by a call: nothing may use them, or another name of them, behind it."""
    calls = (item for item in nodes_in(function) if isinstance(item, Call))
    kills = (call for call in calls if isinstance(call.op, Op) and call.op.name in KILL_CALLS)
    return frozenset(arg for call in kills for arg in call.args if isinstance(arg, Var))


def has_effect(value: Expr, type_of: Mapping[Node, Type]) -> bool:
    """Tell whether evaluating `value` may do more than give a value; a function literal does nothing.

    A function of the module, prim funcs included, has an effect unless its type is pure.
    """
    return any(isinstance(item, Call) and _is_impure_call(item, type_of) for item in outside(value, Function))


def _is_impure_call(call: Call, type_of: Mapping[Node, Type]) -> bool:
    match call.op:
        case Op(name=name):
            spec = OPS.get(name)
            return spec is None or not spec.is_pure
        case ExternFunc(name=name):
            return name not in PURE_BUILTINS
        case callee:
            type_ = type_of.get(callee)
            return not (isinstance(type_, FuncType) and type_.is_pure)
