"""EtaExpand: a constructor or a global function that is used as a value becomes a function that calls it.

See: tvm/src/relay/transforms/eta_expand.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass

from relax_core.ir.expr import Call, Expr, Function, FuncType, GlobalVar, Type, TypeVar, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Constructor, PatternConstructor
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.copying import at_types
from relax_core.passes.relay.rebuild import change_functions, rebuild


@dataclass(frozen=True, slots=True)
class EtaExpandOptions:
    """Which values are expanded: constructors, global functions."""

    expand_constructor: bool = False
    expand_global_var: bool = False


def run(module: IRModule, options: EtaExpandOptions, ctx: PassContext) -> IRModule:
    """Make a function literal of each constructor or global function that is not called where it stands."""
    expansion = _Expansion(options, ctx.types(module), ctx)
    return change_functions(module, lambda function: rebuild(function, expansion.change, ctx), ctx)


@dataclass(frozen=True, slots=True)
class _Expansion:
    options: EtaExpandOptions
    types: Mapping[Node, Type]
    ctx: PassContext

    def change(self, old: Node, rebuilt: Node) -> Node:
        match rebuilt:
            case PatternConstructor():
                return rebuilt
            case Call(op=op):
                made = map_children(rebuilt, lambda child: child if child is op else self.value(child, old))
            case _:
                made = map_children(rebuilt, lambda child: self.value(child, old))
        self.ctx.log.rebuilt(rebuilt, made)
        return made

    def value(self, child: Node, user: Node) -> Node:
        """Return what stands for `child` where it is a value."""
        match child:
            case Constructor(field_types=(_, *_)):
                option, is_asked = "expand_constructor", self.options.expand_constructor
            case GlobalVar():
                option, is_asked = "expand_global_var", self.options.expand_global_var
            case _:
                return child
        if not is_asked:
            self.ctx.remark(user, "missed", f"{child.name} stays a value: {option} is not asked for")
            return child
        signature = self.types.get(child)
        if not isinstance(signature, FuncType) or signature.params is None:
            return child
        made = expanded(child, signature)
        self.ctx.remark(user, "applied", f"{child.name} is used as a value: it becomes a function that calls it")
        return self.ctx.derive(made, user, rule="expand")


def expanded(callee: Expr, signature: FuncType) -> Function:
    """Return a function with parameters and type parameters of its own that calls `callee`."""
    variables = tuple(TypeVar(item.name) for item in signature.type_params)
    types = dict(zip(signature.type_params, variables, strict=True))
    params = tuple(
        Var(f"eta_expand_param{k}", at_types(type_, types)) for k, type_ in enumerate(signature.params or ())
    )
    return Function(params, Call(callee, params), at_types(signature.ret, types), type_params=variables)


PASS = Pass(
    "EtaExpand",
    "Makes functions of the constructors and global functions that are used as values.",
    run,
    options=EtaExpandOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/eta_expand.cc",
    reads_data=False,
)
