"""Call global functions directly where a closure's value does not escape."""

from collections.abc import Iterator
from dataclasses import dataclass

from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    Op,
    Tuple,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks

INVOKE = ("relax.invoke_closure", "relax.invoke_pure_closure")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Remove `make_closure`, or a variable bound to a global function, if it is used in calls only."""

    def change(_: GlobalVar, function: Function) -> Function:
        wrappers = {item.var: item for item in _wrappers(function)}
        elided: dict[Var, _Wrapper] = {}
        for var, item in wrappers.items():
            reason = item.reason_to_stay(function)
            if reason is None:
                elided[var] = item
                ctx.remark(item.binding, "applied", f"{var.name} is only called: its calls go to @{item.callee.name}")
            else:
                ctx.remark(item.binding, "missed", f"{var.name} stays: {reason[0]}", (reason[1],))
        if not elided:
            return function

        def call_directly(node: Node) -> Node | None:
            """Rule: invoke_closure(make_closure(f, (c,)), (x,)) -> f(x, c)."""
            called = _called(node)
            if called is None or called[0] not in elided:
                return None
            wrapper = elided[called[0]]
            return Call(wrapper.callee, (*called[1], *wrapper.captures))

        def drop(node: Node) -> Node | tuple[Node, ...] | None:
            """Rule: closure that is not used -> nothing."""
            match node:
                case VarBinding(var=var) if var in elided:
                    return ()
                case BindingBlock(bindings=()):
                    return ()
                case _:
                    return None

        return ctx.rewrite(function, call_directly, drop, join_blocks)

    return change_functions(module, ctx, change)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A variable that holds a global function, with the values that are appended to its arguments."""

    binding: VarBinding
    callee: GlobalVar
    captures: tuple[Expr, ...]

    @property
    def var(self) -> Var:
        """The variable."""
        return self.binding.var

    def reason_to_stay(self, function: Function) -> tuple[str, Node] | None:
        """Return why the value is needed, and where; `None` if it is only called."""
        blocks = [item for item in preorder(function) if isinstance(item, DataflowBlock)]
        needs_block = any(isinstance(item, DataflowVar) for item in self.captures)
        for user in preorder(function):
            count = sum(item is self.var for item in children(user))
            if user is self.binding or not count:
                continue
            called = _called(user)
            if called is None or called[0] is not self.var or count > 1:
                return "its value escapes here", user
            if needs_block and not any(user in set(preorder(block)) for block in blocks):
                return "what it captures is not visible at this call", user
        return None


def _called(node: Node) -> tuple[Var, tuple[Expr, ...]] | None:
    """Return the variable that a call calls, and its arguments."""
    match node:
        case Call(op=Var() as callee, args=args):
            return callee, args
        case Call(op=Op(name=name), args=(Var() as callee, Tuple(fields=args))) if name in INVOKE:
            return callee, args
        case _:
            return None


def _wrappers(function: Function) -> Iterator[_Wrapper]:
    for block in preorder(function):
        if not isinstance(block, BindingBlock):
            continue
        for item in block.bindings:
            match item:
                case VarBinding(value=GlobalVar() as callee):
                    yield _Wrapper(item, callee, ())
                case VarBinding(
                    value=Call(op=Op(name="relax.make_closure"), args=(GlobalVar() as callee, Tuple(fields=captures)))
                ):
                    yield _Wrapper(item, callee, captures)
                case _:
                    pass


PASS = Pass(
    "ElideClosureWrappers",
    "Removes closures that are only called where they are made: the calls go to the global function.",
    run,
    needs=("normal form", "no local functions"),
)
