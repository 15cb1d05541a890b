"""Which Relay expressions may do more than give a value: those that work on references, or call what may."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.relay import Constructor, Let, Match, RefCreate, RefRead, RefWrite

IMPURE_OPS = frozenset(("memory.kill", "vm.invoke_tvm_op", "memory.invoke_tvm_op", "vm.shape_func", "debug"))


@dataclass(frozen=True, slots=True)
class Effects:
    """What is known of a module: the functions whose calls have no effect, by name, and local ones by variable."""

    pure_globals: frozenset[str]
    pure_locals: frozenset[Var]

    def is_pure(self, expr: Expr) -> bool:
        """Tell whether computing `expr` only gives a value; a function literal does nothing until it is called."""
        return not _doubts(expr, self.pure_locals, self.pure_globals, {})

    def effectful(self, order: Iterable[Node]) -> frozenset[Node]:
        """Return the expressions of `order`, parts first, whose value may not be computed earlier or later, or not.

        Complexity: linear, where `is_pure` looks at all below an expression.
        """
        found: set[Node] = set()
        for node in order:
            if not isinstance(node, Function) and (
                self._has_effect(node) or any(part in found for part in _computed(node))
            ):
                found.add(node)
        return frozenset(found)

    def _has_effect(self, node: Node) -> bool:
        """Tell whether computing `node` may do more than give a value, its parts aside."""
        match node:
            case RefCreate() | RefRead() | RefWrite():
                return True
            case Call(op=Op(name=name)):
                return name in IMPURE_OPS
            case Call(op=GlobalVar(name=name)):
                return name not in self.pure_globals
            case Call(op=Var() as var):
                return var not in self.pure_locals
            case Call(op=Constructor() | Function()):
                return False
            case _:
                return isinstance(node, Call)

    def is_pure_function(self, function: Function) -> bool:
        """Tell whether calling `function` only gives a value."""
        return self.is_pure(function.body)


def effects_of(module: IRModule) -> Effects:
    """Find the functions without effects: those that are not shown to have one, by what they call.

    A call of an unknown function value, such as a parameter, counts as an effect. Complexity: linear in the module,
    times the length of the longest chain of calls that leads to an effect.
    """
    bodies: dict[str | Var, Expr] = {}
    known: dict[Var, Function] = {}
    for var, function in module.relax_functions:
        bodies[var.name] = function.body
        for local, value in _local_functions(function).items():
            known[local] = value
            bodies[local] = value.body
    pure = set(bodies)
    locals_, globals_ = frozenset(known), frozenset(name for name in bodies if isinstance(name, str))
    users: dict[str | Var, set[str | Var]] = {}
    impure: list[str | Var] = []
    for name, body in bodies.items():
        calls: dict[str | Var, None] = {}
        if _doubts(body, locals_, globals_, calls):
            impure.append(name)
        for callee in calls:
            users.setdefault(callee, set()).add(name)
    while impure:
        name = impure.pop()
        if name in pure:
            pure.discard(name)
            impure.extend(users.get(name, ()))
    return Effects(
        frozenset(name for name in pure if isinstance(name, str)),
        frozenset(name for name in pure if isinstance(name, Var)),
    )


def _computed(node: Node) -> tuple[Node, ...]:
    """Return what is computed, at most, to compute `node`."""
    match node:
        case Call(op=Function(body=body), args=args):
            return (body, *args)
        case Match(value=value, clauses=clauses):
            return (value, *(clause.body for clause in clauses))
        case _:
            return children(node)


def _local_functions(function: Function) -> Mapping[Var, Function]:
    lets = (node for node in preorder(function.body) if isinstance(node, Let))
    return {let.var: let.value for let in lets if isinstance(let.value, Function)}


def _doubts(
    expr: Expr, locals_: frozenset[Var], globals_: frozenset[str], calls: dict[str | Var, None]
) -> bool:  # fmt: skip
    """Tell whether `expr` may have an effect of its own, or by calling a function that is not among those given.

    The others that it calls are added to `calls`. A parameter of a function literal that is called in its place stands
    for its argument.
    """
    stack: list[Node] = [expr]
    seen: set[Node] = set()
    given: dict[Node, Expr] = {}
    while stack:
        current = stack.pop()
        if current in seen or isinstance(current, Function):
            continue
        seen.add(current)
        callee = _callee(current.op, given) if isinstance(current, Call) else None
        match current:
            case RefCreate() | RefRead() | RefWrite():
                return True
            case Call(op=Op(name=name)):
                if name in IMPURE_OPS:
                    return True
            case Call(args=args):
                match callee:
                    case Constructor():
                        pass
                    case GlobalVar(name=name) if name in globals_:
                        calls[name] = None
                    case Var() if callee in locals_:
                        calls[callee] = None
                    case Function(params=params, body=body):
                        given.update(zip(params, args, strict=False))
                        stack.append(body)
                    case _:
                        return True
            case _:
                pass
        stack.extend(children(current))
    return False


def _callee(op: Expr, given: Mapping[Node, Expr]) -> Expr:
    """Return what is called, behind parameters and annotations."""
    while True:
        match op:
            case Var() if op in given:
                op = given[op]
            case Call(op=Op(name=name), args=(value,)) if name.startswith("annotation.compiler_"):
                op = value
            case _:
                return op
