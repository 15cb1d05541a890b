"""Which calls have side effects."""

from collections.abc import Mapping

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, ExternFunc, Function, FuncType, GlobalVar, Op, Type
from relax_core.ir.node import Node
from relax_core.ops import find


def is_unchecked(function: Function) -> bool:
    """Tell whether `function` is taken as pure without a check, as after `RemovePurityChecking`."""
    return attr(function.attrs, "relax.force_pure") is True


def is_impure(node: Node, types: Mapping[Node, Type]) -> bool:
    """Tell whether evaluating `node` itself, not its parts, may have a side effect."""
    return impurity_of(node, types) is not None


def impurity_of(node: Node, types: Mapping[Node, Type]) -> str | None:
    """Say which side effect the evaluation of `node` itself may have; `None` if it has none.

    Packed functions, printing, checks and writes in place have some; a Relax function has what its type says.
    """
    match node:
        case Call(op=Op(name=name)):
            spec = find(name)
            return None if spec is None or spec.is_pure else f"R.{spec.short_name} has side effects"
        case Call(op=ExternFunc(name=name, annotation=None)):
            return f'the packed function "{name}" may have side effects'
        case Call(op=callee):
            type_ = types.get(callee)
            if isinstance(type_, FuncType) and not type_.is_pure:
                what = "the prim func" if isinstance(callee, GlobalVar) and type_.params is None else "the function"
                return f"{what} {getattr(callee, 'name', '')} is not pure".replace("  ", " ")
            return None
        case _:
            return None
