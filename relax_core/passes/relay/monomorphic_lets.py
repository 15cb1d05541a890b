"""Polymorphic local Relay functions that capture: a let for each combination of types that one is called at."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.check.inference import Inference
from relax_core.ir.expr import Call, Expr, Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.relay import Let
from relax_core.ir.substitute import free_vars
from relax_core.ir.types import Type
from relax_core.passes.core import PassContext
from relax_core.passes.relay.copying import copied
from relax_core.passes.relay.monomorphize import MAX_COPIES, is_large, same_types
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild


def with_monomorphic_lets(module: IRModule, ctx: PassContext, code: str) -> IRModule:
    """Return `module` in which a let of such a function is one for each combination of types, without type variables.

    So it is if the variable is only called, and not inside of the literal itself. The rest stays.

    Raises:
        CompileError: `code` for a program that needs more than `MAX_COPIES`, or copies at large types.
    """
    copy_count = 0

    def changed(function: Function, facts: Inference) -> Function:
        nonlocal copy_count
        literals = _literals(function, facts)
        if not literals:
            return function
        copies = _Copies(literals, facts, ctx, code, copy_count)
        result = rebuild(function, copies.change, ctx)
        copy_count = copies.count
        return result

    while True:
        facts = infer(module)
        # A copy has the literal's body as it was: the calls in it are for the next round.
        after = change_functions(module, lambda function, facts=facts: changed(function, facts), ctx)
        if after is module:
            return module
        module = after


@dataclass(slots=True)
class _Copies:
    """The copies of the literals of a function, `count` with those of the functions before it."""

    literals: Mapping[Var, Function]
    facts: Inference
    ctx: PassContext
    code: str
    count: int
    of: dict[Var, list[tuple[tuple[Type, ...], Var, Function]]] = field(
        default_factory=dict[Var, "list[tuple[tuple[Type, ...], Var, Function]]"]
    )

    def change(self, old: Node, rebuilt: Node) -> Node:
        """Rule: a call names the copy at its types; the let of a literal, met behind its calls, becomes those."""
        match old, rebuilt:
            case Let(var=var), Let(body=body) if var in self.literals:
                made: Expr = body
                for _, copy_var, literal in reversed(self.of.get(var, ())):
                    made = self.ctx.derive(Let(copy_var, literal, made, span=old.span), old)
                self.ctx.log.replace(rebuilt, made, "a let for each combination of types", known=(made,))
                return made
            case Call(op=Var() as var), Call() if var in self.literals:
                return self.ctx.derive(replace(rebuilt, op=self._copy(var, old), type_args=()), old)
            case _:
                return rebuilt

    def _copy(self, var: Var, call: Node) -> Var:
        """Return the variable of the copy at the types of a call."""
        types = self.facts.type_args[call]
        known = self.of.setdefault(var, [])
        for given, name, _ in known:
            if same_types(given, types):
                return name
        self.count += 1
        if self.count > MAX_COPIES or any(map(is_large, types)):
            message = (
                f"the program needs more than {MAX_COPIES} copies of its local functions, or copies at large types"
            )
            self.ctx.fail(self.code, message, call, "make it a function of the module, which takes what it captures")
        literal = self.literals[var]
        types_of = dict(zip(literal.type_params, types, strict=True))
        made = self.ctx.derive(replace(copied(literal, {}, self.ctx, types_of), type_params=()), literal)
        self.ctx.remark(call, "applied", f"a copy of %{var.name} at the types of this call")
        name = self.ctx.derive(Var(var.name, span=var.span), var)
        known.append((types, name, made))
        return name


def _literals(function: Function, facts: Inference) -> Mapping[Var, Function]:
    """Return the polymorphic literals that lets bind in a function, of which all uses are calls at known types."""
    found = {
        var: let.value
        for var, let in let_vars(function).items()
        if isinstance(let.value, Function) and let.value.type_params and not is_closed(let.value)
    }
    if not found:
        return found
    found = {var: literal for var, literal in found.items() if var not in free_vars(literal)}
    for node in postorder(function):
        if isinstance(node, Let):
            used: tuple[Node, ...] = (node.value, node.body)
        elif isinstance(node, Call) and len(facts.type_args.get(node, ())) == _parameter_count(node, found):
            used = node.args
        else:
            used = children(node)
        for item in used:
            if isinstance(item, Var):
                found.pop(item, None)
    # What others of these call stays until they are in the places of their calls.
    inner = {var for literal in found.values() for var in free_vars(literal)}
    return {var: literal for var, literal in found.items() if var not in inner}


def _parameter_count(call: Call, literals: Mapping[Var, Function]) -> int:
    literal = literals.get(call.op) if isinstance(call.op, Var) else None
    return -1 if literal is None else len(literal.type_params)
