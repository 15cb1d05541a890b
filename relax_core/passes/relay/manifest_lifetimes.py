"""ManifestLifetimes: kill every value after its last use, so that its memory can be used again.

See: tvm/src/relay/transforms/memory_alloc.cc and manifest_lifetimes.cc, v0.19
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from relax_core.analysis.device_constraints import parts_of
from relax_core.analysis.devices import is_primitive
from relax_core.ir.expr import Call, Expr, Function, Op, Var, is_op_call
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let
from relax_core.ir.types import FuncType
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.to_a_normal_form import to_a_normal_form

KILL = "memory.kill"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Kill the let-bound values of every function behind the let of their scope that uses them last."""
    module = to_a_normal_form(module, ctx.log)
    types = ctx.types(module)
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_primitive(item.function):
            dying = {
                var: tuple(name for name in names if not isinstance(types.get(name), FuncType))
                for var, names in last_uses(item.function).items()
            }
            after = _killed(item.function, dying, ctx)
            if after is not item.function:
                changed.append(Definition(item.var, after, span=item.span))
    return module.with_definitions(*changed) if changed else module


def last_uses(function: Function) -> dict[Var, tuple[Var, ...]]:
    """Return by the variable of a let the variables that are dead behind it; each dies in the scope that binds it.

    A use inside a branch, a clause or a closure counts for the let that holds it. The result of a scope does not die,
    nor does what a closure captures; names of one value die together. Complexity: linear, times the nesting of scopes.
    """
    found: dict[Var, tuple[Var, ...]] = {}
    lets = [node for node in parts_of(function) if isinstance(node, Let)]
    inner = {let.body for let in lets}
    for head in lets:
        if head not in inner:
            found.update(_last_uses(head))
    return found


def _last_uses(head: Let) -> dict[Var, tuple[Var, ...]]:
    """Return the last uses in one chain of lets."""
    root_of: dict[Var, Var] = {}
    last: dict[Var, Var] = {}
    kept: set[Var] = set()
    at: Expr = head
    while isinstance(at, Let):
        for used, is_captured in _used(at.value):
            if used in root_of:
                last[root_of[used]] = at.var
                kept.update((root_of[used],) if is_captured or is_op_call(at.value, KILL) else ())
        is_alias = isinstance(at.value, Var) and at.value in root_of
        root_of[at.var] = root_of[at.value] if isinstance(at.value, Var) and is_alias else at.var
        last[root_of[at.var]] = at.var
        if is_op_call(at.value, KILL) or is_op_call(at.value, "vm.invoke_tvm_op"):
            kept.add(at.var)
        at = at.body
    kept.update(root_of[var] for var, _ in _used(at) if var in root_of)
    found: dict[Var, tuple[Var, ...]] = {}
    for root, holder in last.items():
        if root not in kept and root.name != "_":
            found[holder] = (*found.get(holder, ()), root)
    return found


def _used(value: Expr) -> Iterator[tuple[Var, bool]]:
    """Yield the variables in `value`, and whether a closure captures them."""
    seen: set[tuple[Node, bool]] = set()
    stack: list[tuple[Node, bool]] = [(value, False)]
    while stack:
        node, is_inside = entry = stack.pop()
        if entry in seen:
            continue
        seen.add(entry)
        if isinstance(node, Var):
            yield node, is_inside
        is_closure = isinstance(node, Function) and not is_primitive(node)
        stack.extend((child, is_inside or is_closure) for child in children(node))


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
    "Kills every let-bound value behind the let of its scope that uses it last.",
    run,
    see="tvm/src/relay/transforms/manifest_lifetimes.cc",
    dialect="relay",
)
