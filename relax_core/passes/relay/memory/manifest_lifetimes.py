"""ManifestLifetimes: kill every value after its last use, so that its memory can be used again.

See: tvm/src/relay/transforms/memory_alloc.cc and manifest_lifetimes.cc, v0.19
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from relax_core.analysis.device.constraints import parts_of
from relax_core.analysis.device.devices import is_primitive
from relax_core.ir.expr import Call, Expr, Function, FuncType, If, Op, Type, Var, is_op_call
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, outside, postorder
from relax_core.ir.relay import Let, Match, PatternVar
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.ir.rewriting.trampoline import Steps
from relax_core.ir.rewriting.trampoline import run as run_steps
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.normal_form.to_a_normal_form import normalized_first
from relax_core.passes.remarks import UnnumberedRemark

KILL = "memory.kill"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Kill the values of every function behind the let that uses them last."""
    module = normalized_first(module, ctx)
    types = ctx.types(module)

    def change(function: Function) -> Function:
        if is_primitive(function):
            return function
        dying = {
            var: tuple(name for name in names if not isinstance(types.get(name), FuncType))
            for var, names in last_uses(function).items()
        }
        ctx.remark_on_reading(partial(_left, function, dying, types))
        return _killed(function, dying, ctx)

    return module.map_functions(change)


def _left(
    function: Function, dying: Mapping[Var, tuple[Var, ...]], types: Mapping[Node, Type]
) -> Iterator[UnnumberedRemark]:
    """Say of what lets bind and nothing kills, why it lives on."""
    nodes = tuple(parts_of(function))
    dead = {var for names in dying.values() for var in names}
    captured = {var for node in nodes if isinstance(node, Function) and node is not function for var in free_vars(node)}
    for node in nodes:
        if not isinstance(node, Let) or node.var in dead or node.var.name == "_":
            continue
        match node:
            case Let(var=var) if isinstance(types.get(var), FuncType):
                why = "it is a function, which has no memory"
            case Let(var=var) if var in captured:
                why = "a function literal captures it"
            case Let(value=Var(name=name)):
                why = f"it is another name of %{name}"
            case _:
                why = "the result of its scope needs it, or it is killed already"
        yield UnnumberedRemark(node, "missed", f"%{node.var.name} lives on: {why}")


def last_uses(function: Function) -> dict[Var, tuple[Var, ...]]:
    """Return by the variable of a let the variables that are dead behind it: parameters, lets, variables of patterns.

    What only branches use dies in each branch that uses it. The result of a scope does not die, nor does what a
    function literal captures; names of one value die together. Complexity: linear, times the nesting of literals.
    """
    found: dict[Var, tuple[Var, ...]] = {}
    for literal in (function, *(node for node in parts_of(function) if isinstance(node, Function))):
        if not is_primitive(literal):
            found.update(_LastUses.of(literal).last_uses())
    return found


@dataclass(slots=True)
class _LastUses:
    """The values of one function, followed from its end to its start.

    `root_of` leads from each name to the first one of its value. `trail` has what became live, so that one branch is
    taken back before the next.
    """

    function: Function
    root_of: dict[Var, Var]
    kept: frozenset[Var]
    live: set[Var] = field(default_factory=set[Var])
    trail: list[Var] = field(default_factory=list[Var])
    found: dict[Var, tuple[Var, ...]] = field(default_factory=dict[Var, tuple[Var, ...]])

    @staticmethod
    def of(function: Function) -> "_LastUses":
        root_of = {param: param for param in function.params}
        kept: set[Var] = set()
        for node in outside(function.body, Function):
            match node:
                case Let(var=var, value=Var() as value) if value in root_of:
                    root_of[var] = root_of[value]
                case Let(var=var, value=value):
                    root_of[var] = var
                    if is_op_call(value, KILL) or is_op_call(value, "vm.invoke_tvm_op") or var.name == "_":
                        kept.add(var)
                case PatternVar(var=var):
                    root_of[var] = var
                case Call(args=args) if is_op_call(node, KILL):
                    kept.update(item for item in args if isinstance(item, Var))
                case Function() if not is_primitive(node):
                    kept.update(free_vars(node))
                case _:
                    pass
        return _LastUses(function, root_of, frozenset(root_of[var] for var in kept if var in root_of))

    def last_uses(self) -> dict[Var, tuple[Var, ...]]:
        run_steps(self.scope(self.function.body))
        return self.found

    def scope(self, expr: Expr) -> Steps[None]:
        """Go through a chain of lets from its end; `live` is what is used behind it, and then what is used in it."""
        lets: list[Let] = []
        while isinstance(expr, Let):
            lets.append(expr)
            expr = expr.body
        yield self.value(expr)
        for let in reversed(lets):
            is_unused = self.root_of[let.var] is let.var and let.var not in self.live
            self.live.discard(let.var)
            dying = yield self.value(let.value)
            self.found[let.var] = (*dying, let.var) if is_unused and let.var not in self.kept else dying

    def value(self, value: Expr) -> Steps[tuple[Var, ...]]:
        """Make live what a value uses; return what was not, and is not used in the branches of the value either."""
        match value:
            case If(condition=condition, true_branch=yes, false_branch=no):
                yield self.branches((yes, no))
                return self.use(condition)
            case Match(value=scrutinee, clauses=clauses):
                yield self.branches(tuple(clause.body for clause in clauses))
                return self.use(scrutinee)
            case _:
                return self.use(value)

    def branches(self, bodies: tuple[Expr, ...]) -> Steps[None]:
        used: dict[Var, None] = {}
        mark = len(self.trail)
        for body in bodies:
            yield self.scope(body)
            added = [var for var in self.trail[mark:] if var in self.live]
            used.update(dict.fromkeys(added))
            self.live.difference_update(added)
            del self.trail[mark:]
        self.live.update(used)
        self.trail.extend(used)

    def use(self, expr: Expr) -> tuple[Var, ...]:
        nodes = (node for node in postorder(expr) if isinstance(node, Var) and node in self.root_of)
        roots = dict.fromkeys(self.root_of[node] for node in nodes)
        added = [root for root in roots if root not in self.live]
        self.live.update(added)
        self.trail.extend(added)
        return tuple(root for root in added if root not in self.kept)


def _killed(function: Function, dying: Mapping[Var, tuple[Var, ...]], ctx: PassContext) -> Function:
    def kill(node: Node) -> Node | None:
        """Rule: let x = last use of y; body -> let x = last use of y; kill y; body."""
        dead = dying.get(node.var, ()) if isinstance(node, Let) else ()
        if not dead or not isinstance(node, Let):
            return None
        body = node.body
        for var in reversed(dead):
            made = Call(Op(KILL), (var,), span=node.span)
            body = Let(Var("_", span=node.span), made, body, span=node.span)
        names = ", ".join(f"%{var.name}" for var in dead)
        ctx.remark(node, "applied", f"{names}: not used behind this let")
        return replace(node, body=body)

    return ctx.rewrite(function, kill)


PASS = Pass(
    "ManifestLifetimes",
    "Kills every value behind the let that uses it last, in each branch on its own.",
    run,
    see="tvm/src/relay/transforms/manifest_lifetimes.cc",
    dialect="relay",
)
