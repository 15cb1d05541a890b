"""Tell prim funcs which of their inputs may have any layout."""

from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, Tuple, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog, Rule, rewrite
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.dead_code_elimination import DCEOptions
from relax_core.passes.relax.dead_code_elimination import run as eliminate_dead_code
from relax_core.passes.relax.functions import rewrite_functions

FREE = "layout_free_buffers"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Set `layout_free_buffers` of prim funcs: which inputs are constants or weights, behind the first `num_input`.

    Each call calls a copy with the attribute, an empty one too, and what is unused goes. TVM leaves a copy of a public
    prim func the symbol of the first, which then names two. A prim func that says the same already stays.
    """
    copies = _Copies(module, ctx, Names(module.names))

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        count = attr(function.attrs, "num_input")
        is_counted = isinstance(count, int) and not isinstance(count, bool)
        weights = frozenset(function.params[count:] if isinstance(count, int) and is_counted else ())

        def attach(node: Node) -> Node | None:
            """Rule: call_tir with weights -> call_tir of a prim func that knows them."""
            match node:
                case Call(op=Op(name="relax.call_tir"), args=(GlobalVar() as callee, Tuple(fields=inputs), *rest)):
                    free = tuple(place for place, item in enumerate(inputs) if _is_free(item, weights))
                    marked = copies.marked(callee, free, node)
                    return None if marked is None else replace(node, args=(marked, node.args[1], *rest))
                case _:
                    return None

        return (attach,)

    changed = rewrite_functions(module, ctx, rules_for)
    if changed is not module:
        changed = ctx.derive(changed.with_definitions(*copies.added), module)
    return eliminate_dead_code(changed, DCEOptions(), ctx)


def _is_free(item: Expr, weights: frozenset[Var]) -> bool:
    return isinstance(item, Constant) or (isinstance(item, Var) and item in weights)


def _renew(node: Node) -> Node | None:
    """Rule: variable -> variable of the same name."""
    return replace(node) if isinstance(node, PrimVar | Buffer) else None


@dataclass(slots=True)
class _Copies:
    """The copies of prim funcs that know which of their inputs are free, by name and inputs."""

    module: IRModule
    ctx: PassContext
    names: Names
    found: dict[tuple[str, tuple[int, ...]], GlobalVar] = field(
        default_factory=dict[tuple[str, tuple[int, ...]], GlobalVar]
    )
    added: list[Definition] = field(default_factory=list[Definition])

    def marked(self, callee: GlobalVar, free: tuple[int, ...], call: Call) -> GlobalVar | None:
        """Return the name of the copy for a call, `None` if the prim func says itself which inputs are free."""
        definition = self.module.find(callee.name)
        if definition is None or not isinstance(definition.function, PrimFunc):
            return None
        if attr(definition.function.attrs, FREE) == free:
            self.ctx.remark(call, "missed", f"@{callee.name} says itself which of its inputs are free", (definition,))
            return None
        key = callee.name, free
        if key not in self.found:
            attrs = with_attr(definition.function.attrs, FREE, free)
            # A copy has variables and buffers of its own.
            own = rewrite(definition.function, _renew, log=RewriteLog())
            marked = self.ctx.derive(replace(own, attrs=attrs), definition.function)
            self.found[key] = GlobalVar(self.names.fresh(callee.name))
            self.added.append(self.ctx.derive(Definition(self.found[key], marked), definition))
        places = f"its inputs {', '.join(map(str, free))}" if free else "none of its inputs"
        self.ctx.remark(call, "applied", f"@{self.found[key].name} may lay out {places} as it likes")
        return self.found[key]


PASS = Pass(
    "AttachAttrLayoutFreeBuffers",
    "Tells prim funcs which of their inputs are weights or constants, and so may have any layout.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/attach_attr_layout_free_buffers.cc",
)
