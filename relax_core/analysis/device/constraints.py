"""The device constraints of a Relay function, one rule per kind of expression."""

from collections.abc import Iterator
from typing import cast

from relax_core.analysis.device.calls import constrain_call
from relax_core.analysis.device.devices import as_on_device, declared_devices, is_primitive, let_device
from relax_core.analysis.device.domains import Arrow, Domain, Domains, is_primitive_value, result_slot
from relax_core.check.infer import infer
from relax_core.ir.expr import Call, Constant, Expr, Function, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let, Match, PatternVar, RefCreate, RefRead, RefWrite, result_of


def begin(module: IRModule) -> Domains:
    """Start an analysis of `module`: no constraint is collected yet."""
    domains = Domains(module, infer(module).types)
    domains.functions.update((item.var.name, item.function) for item in module.definitions)
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_primitive(item.function):
            domains.global_of[item.var.name] = _signature(domains, item.function)
            domains.parts[item.var.name] = tuple(parts_of(item.function))
    return domains


def _signature(domains: Domains, function: Function) -> Domain:
    """Return the domain of a function literal, built of the domains of its parameters and body."""
    found = domains.domain_of.get(function)
    if found is None:
        params = tuple(domains.own(param) for param in function.params)
        type_ = domains.types.get(function.body)
        found = domains.domain_of[function] = Arrow(params, domains.made(type_, function))
    return found


def collect(domains: Domains, name: str) -> None:
    """Add the constraints of a function and everything in it. Complexity: linear in its size."""
    for node in domains.parts[name]:
        match node:
            case Call():
                constrain_call(domains, node)
            case Let(var=var, value=value):
                _let(domains, node, var, value)
                if node.attrs:
                    _declare(domains, node)
            case Var() | Constant():
                if node not in domains.domain_of:
                    domains.own(node)
            case Function():
                if not is_primitive(node):
                    _function(domains, node)
            case If(condition=condition, true_branch=yes, false_branch=no):
                domains.unify(domains.own(node), domains.of(yes, node), node, "an if gives what its branches give")
                domains.unify(domains.own(node), domains.of(no, node), node, "an if gives what its branches give")
                domains.same(node, condition, "an if is on the device of its condition")
            case Match():
                _match(domains, node)
            case _:
                _constrain_parts(domains, node)


def _constrain_parts(domains: Domains, node: Node) -> None:
    """Add that a value made of others, or a part of one, is where these are."""
    match node:
        case Tuple(fields=fields):
            for item in fields:
                domains.same(node, item, "a tuple is on the device of its fields")
        case TupleGetItem(tuple_value=inner):
            domains.same(node, inner, "a field is on the device of its tuple")
        case RefCreate(value=inner):
            domains.same(node, inner, "a reference is on the device of what it holds")
        case RefRead(ref=ref):
            domains.same(node, ref, "what a reference holds is on its device")
        case RefWrite(ref=ref, value=inner):
            domains.same(node, ref, "what a reference holds is on its device")
            domains.same(node, inner, "what a reference holds is on its device")
        case _:
            pass


def parts_of(root: Function) -> Iterator[Node]:
    """Yield the nodes below `root` in postorder, each once, but a let before its body.

    Bodies of primitive functions and called operators are left out.
    """
    seen: set[Node] = set()
    # `None` says that what is under it on the stack has had what comes before it.
    stack: list[Node | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            yield cast("Node", stack.pop())
        elif node not in seen:
            seen.add(node)
            if isinstance(node, Let):
                stack += (node.body, node.var, node, None, node.value)
                continue
            if isinstance(node, Call) and isinstance(node.op, Op):
                parts: tuple[Node, ...] = node.args
            else:
                parts = () if isinstance(node, Function) and is_primitive(node) else children(node)
            if parts:
                stack += (node, None)
                stack += parts[::-1]
            else:
                yield node


def _function(domains: Domains, function: Function) -> None:
    domain = _signature(domains, function)
    assert isinstance(domain, Arrow), "a function has the domain of one"
    domains.literals.append(function)
    domains.unify(domain.result, domains.of(function.body, function), function, "a function gives what its body gives")
    params, result = declared_devices(function)
    for param, given in zip(function.params, params, strict=True):
        if given is not None:
            slot = domains.collapse(domains.own(param), param, "a device is given for the parameter")
            domains.proof.fix(slot, given, param, f"%{param.name} is declared on {given}")
    if result is not None:
        domains.proof.fix(result_slot(domain), result, function, f"the result is declared on {result}")
    _fix_result(domains, result_of(function.body), "the result of a function")


def _let(domains: Domains, let: Let, var: Var, value: Expr) -> None:
    domains.value_of[var] = value
    domains.lets.append(let)
    words = f"%{var.name} is bound to this value"
    given = domains.own(value) if isinstance(value, Call) else None
    if isinstance(given, int) and var not in domains.domain_of:
        domains.domain_of[var] = domains.proof.attached(given, var, let, words)
        _fix_result(domains, value, f"%{var.name}")
        return
    if is_primitive_value(domains, value):
        return
    given = domains.of(value, let)
    if isinstance(value, Function):
        # The variable shares the function's domain, so that a recursive function has one domain.
        known = domains.domain_of.get(var)
        domains.domain_of[var] = given
        if known is not None:
            domains.unify(known, given, let, f"%{var.name} is bound to this function")
        return
    domains.unify(domains.own(var), given, let, words)
    _fix_result(domains, value, f"%{var.name}")


def _declare(domains: Domains, let: Let) -> None:
    """Constrain a let by the device that the text gives its variable in braces."""
    device = let_device(let)
    if device is not None:
        slot = domains.collapse(domains.own(let.var), let.var, "a device is given for the variable")
        domains.proof.fix(slot, device, let, f"%{let.var.name} is declared on {device}")


def _fix_result(domains: Domains, expr: Expr, what: str) -> None:
    """Constrain the result as well where an `on_device` is the result of a function or the value of a let."""
    note = as_on_device(expr)
    if note is not None and note.device is not None and note.constrains_body:
        slot = domains.collapse(domains.own(expr), expr, what)
        domains.proof.fix(slot, note.device, expr, f"{what} is annotated with {note.device}")


def _match(domains: Domains, match: Match) -> None:
    domains.same(match, match.value, "a match is on the device of what it looks at")
    slot = domains.collapse(domains.own(match), match, "a match has one device")
    for clause in match.clauses:
        domains.same(match, clause.body, "a match gives what its clauses give")
        stack: list[Node] = [clause.pattern]
        while stack:
            item = stack.pop()
            stack.extend(children(item))
            if isinstance(item, PatternVar):
                words = f"%{item.var.name} is a part of what the match looks at"
                inner = domains.collapse(domains.own(item.var), item.var, words)
                domains.proof.unite(slot, inner, item.var, words)
