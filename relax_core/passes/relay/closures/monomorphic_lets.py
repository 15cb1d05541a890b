"""Polymorphic local Relay functions that capture: a let for each combination of types that one is called at."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.check.inference import Inference
from relax_core.ir.expr import Call, Expr, Function, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, map_children, postorder
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.builder import is_same
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.relay.closures.monomorphize import MAX_COPIES, is_large, same_types
from relax_core.passes.relay.copying import copied
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild


def with_monomorphic_lets(module: IRModule, ctx: PassContext, code: str) -> IRModule:
    """Return `module` in which a let of such a function is one for each combination of types, without type variables.

    A use as a value is first one of a function that calls it. A literal that calls itself at other types stays.

    Raises:
        CompileError: `code` for a program that needs more than `MAX_COPIES`, or copies at large types.
    """
    copy_count = 0
    module = change_functions(module, lambda function: _only_called(function, ctx), ctx)

    def changed(function: Function, facts: Inference) -> Function:
        nonlocal copy_count
        literals = _literals(function, facts)
        if not literals:
            return function
        copies = _LetCopies(literals, facts, ctx, code, copy_count)
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
class _LetCopies:
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
                    made = self.ctx.derive(Let(copy_var, literal, made, old.attrs, span=old.span), old)
                self.ctx.log.replace(rebuilt, made, "a let for each combination of types", known=(made,))
                return made
            case Call(op=Var() as var), Call() if var in self.literals and not _is_own(old, self.literals, self.facts):
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
        name = self.ctx.derive(Var(var.name, span=var.span), var)
        copy = copied(literal, {var: name}, self.ctx, types_of)
        made = self.ctx.derive(replace(copy, type_params=()), literal)
        self.ctx.remark(call, "applied", f"a copy of %{var.name} at the types of this call")
        known.append((types, name, made))
        return name


def _is_polymorphic(node: Node) -> bool:
    return isinstance(node, Function) and bool(node.type_params) and not is_closed(node)


def _only_called(function: Function, ctx: PassContext) -> Function:
    """Return `function` in which local polymorphic functions have names, and these are called only.

    Rule: f as a value -> fn (%a) { f(%a) }; a literal -> let f = literal; fn (%a) { f(%a) }
    """
    lets = let_vars(function)
    literals: dict[Node, Function] = {}
    root_of: dict[Node, Node] = {}
    # Inner lets come first there, and another name stands inside of the let of the literal.
    for var, let in reversed(tuple(lets.items())):
        if isinstance(let.value, Function) and _is_polymorphic(let.value):
            literals[var] = let.value
        elif isinstance(let.value, Var) and let.value in literals:
            literals[var], root_of[var] = literals[let.value], let.value
    named = {id(let.value) for let in lets.values()}

    def call_of(callee: Expr, literal: Function) -> Function:
        params = tuple(Var(f"a{k}") for k in range(len(literal.params)))
        return ctx.derive(Function(params, Call(callee, params)), literal, rule="make a function of what is called")

    def change(old: Node, rebuilt: Node) -> Node:
        def value(child: Node) -> Node:
            return call_of(child, literals[child]) if isinstance(child, Var) and child in literals else child

        match old, rebuilt:
            case Function(), Function() if old is not function and _is_polymorphic(old) and id(old) not in named:
                var = Var("f", span=old.span)
                return ctx.derive(Let(var, rebuilt, call_of(var, rebuilt)), old)
            case Let(var=var), _:
                made = map_children(rebuilt, lambda child: child if child is var else value(child))
            case Call(), Call(op=op):
                made = map_children(rebuilt, lambda child: child if child is op else value(child))
            case _:
                made = map_children(rebuilt, value)
        ctx.log.rebuilt(rebuilt, made)
        return made

    has_others = any(_is_polymorphic(node) and id(node) not in named for node in postorder(function.body))
    return rebuild(function, change, ctx, root_of) if literals or has_others else function


def _is_own(call: Node, literals: Mapping[Var, Function], facts: Inference) -> bool:
    """Tell whether a call is one of a literal at the type variables that the literal itself has."""
    literal = literals.get(call.op) if isinstance(call, Call) and isinstance(call.op, Var) else None
    types = facts.type_args.get(call, ())
    return literal is not None and len(types) > 0 and all(map(is_same, types, literal.type_params))


def _literals(function: Function, facts: Inference) -> Mapping[Var, Function]:
    """Return the polymorphic literals that lets bind in a function, of which all uses are calls at known types."""
    found = {
        var: let.value
        for var, let in let_vars(function).items()
        if isinstance(let.value, Function) and let.value.type_params and not is_closed(let.value)
    }
    if not found:
        return found
    for var, literal in tuple(found.items()):
        calls = [node for node in postorder(literal) if isinstance(node, Call) and node.op is var]
        if not all(_is_own(call, found, facts) for call in calls):
            found.pop(var)
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
    inner = {var for own, literal in found.items() for var in free_vars(literal) if var is not own}
    return {var: literal for var, literal in found.items() if var not in inner}


def _parameter_count(call: Call, literals: Mapping[Var, Function]) -> int:
    literal = literals.get(call.op) if isinstance(call.op, Var) else None
    return -1 if literal is None else len(literal.type_params)
