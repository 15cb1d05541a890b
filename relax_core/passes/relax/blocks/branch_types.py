"""The types of the results of branches."""

from dataclasses import replace

from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    BindingBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    PrimType,
    SeqExpr,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.ir.rewriting.builder import names_in
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks


def cast_branches(module: IRModule, ctx: PassContext) -> IRModule:
    """Cast what a branch gives to the type of the variable that the `if` is bound to, where the two differ.

    So whoever looks at a branch alone sees what is known of its result behind the `if`. Of a scalar that is its dtype.
    """
    if not any(isinstance(item, If) for _, function in module.relax_functions for item in nodes_in(function)):
        return module
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        names = names_in(function)

        def with_cast(branch: Expr, wanted: Type, name: str) -> Expr:
            assert isinstance(branch, SeqExpr), "a branch in A-normal form is a sequence"
            found = type_of.get(branch.body)
            is_scalar = isinstance(found, PrimType) and isinstance(wanted, PrimType)
            if found is None or is_scalar or same_type(found, wanted):
                return branch
            cast = MatchCast(Var(names.fresh(name), wanted), branch.body, wanted)
            ctx.derive(cast.var, branch.body)
            ctx.remark(branch.body, "applied", "the result of the branch is cast to the type that it has behind the if")
            made = replace(
                branch, blocks=(*branch.blocks, BindingBlock((ctx.derive(cast, branch.body),))), body=cast.var
            )
            return ctx.rewrite(made, join_blocks)

        def cast(node: Node) -> Node | None:
            """Rule: branch -> branch whose result is cast to the type of the if."""
            match node:
                case VarBinding(var=var, value=If() as value):
                    wanted = type_of.get(var)
                case _:
                    return None
            if wanted is None:
                return None
            branches = (
                with_cast(value.true_branch, wanted, "then_branch_with_dyn"),
                with_cast(value.false_branch, wanted, "else_branch_with_dyn"),
            )
            if branches == (value.true_branch, value.false_branch):
                return None
            return replace(node, value=replace(value, true_branch=branches[0], false_branch=branches[1]))

        return ctx.rewrite(function, cast)

    return change_functions(module, ctx, change)
