"""The rules of well-formed Relay: names that are bound, once, and types that exist and are applied rightly."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeAlias

from relax_core.check.rules.unbound import without_data
from relax_core.diagnostics import Diagnostic, Severity, plural
from relax_core.ir.expr import (
    AdtType,
    Call,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    Op,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    TypeData,
)
from relax_core.ir.values import value_parts
from relax_core.ops.relay.tensor.system import STORAGE

_BUILT_IN = (STORAGE,)
_AGAIN_LIMIT = 1_000_000
"""So many nodes of a function are looked at once more, where what is shared stands in another scope, too."""


@dataclass(frozen=True, slots=True)
class _EnterScope:
    variables: tuple[Var, ...]
    type_params: tuple[TypeVar, ...] = ()


@dataclass(frozen=True, slots=True)
class _LeaveScope:
    variables: tuple[Var, ...]
    type_params: tuple[TypeVar, ...] = ()


_Step: TypeAlias = Node | _EnterScope | _LeaveScope
"""A node to look at, or what comes into scope or leaves it."""


def well_formed_relay(module: IRModule) -> tuple[Diagnostic, ...]:
    """Return what breaks the rules, in the order of the definitions. Complexity: linear, shared nodes count once."""
    names = _Names({item.name: item for item in module.type_data}, frozenset(module.names))
    found = list(_type_data(module, names))
    binders: dict[Var, Node] = {}
    for definition in module:
        if isinstance(definition.function, Function):
            walk = _RelayWalk(names, definition.function, binders)
            walk.run()
            found.extend(walk.diagnostics)
            found.extend(without_data(definition.function, walk.seen))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Names:
    data_of: Mapping[str, TypeData]
    globals: frozenset[str]


def _diagnostic(
    code: str, message: str, *nodes: Node | None, hint: str = "", severity: Severity = "error"
) -> Diagnostic:
    span = next((node.span for node in nodes if node is not None and node.span is not None), None)
    return Diagnostic(code, message, span, hint, severity)


def _type_data(module: IRModule, names: _Names) -> Iterator[Diagnostic]:
    seen_types: set[str] = set()
    owner_of: dict[str, str] = {}
    for data in module.type_data:
        if data.name in seen_types:
            yield _diagnostic("RY031", f"the type {data.name} is defined twice", data)
        seen_types.add(data.name)
        for item in data.constructors:
            if item.name in owner_of:
                message = f"the constructor {item.name} is defined twice: in {owner_of[item.name]} and {data.name}"
                yield _diagnostic(
                    "RY031", message, item, data, hint="constructors of all types share one space of names"
                )
            owner_of[item.name] = data.name
            for type_ in item.field_types:
                yield from _type_problems(type_, names, frozenset(data.type_params), item, data)


def _type_problems(
    type_: Type, names: _Names, visible: frozenset[TypeVar], *places: Node | None
) -> Iterator[Diagnostic]:
    """Name the types that do not exist or have the wrong number of arguments, and type variables out of scope."""
    match type_:
        case TensorType():
            return
        case AdtType(name=name, args=args):
            yield from _application(name, args, names, *places)
            inner: tuple[Type, ...] = args
        case TypeVar(name=name):
            if type_ not in visible:
                hint = "name it in the brackets of the function or of the type"
                yield _diagnostic("RY022", f"the type variable {name} is not in scope", *places, hint=hint)
            return
        case TupleType(fields=fields):
            inner = fields
        case FuncType(params=params, ret=ret, type_params=type_params):
            inner = (*(params or ()), ret)
            visible = visible | frozenset(type_params)
        case RefType(value=value):
            inner = (value,)
        case _:
            return
    for item in inner:
        yield from _type_problems(item, names, visible, *places)


def _application(name: str, args: tuple[Type, ...], names: _Names, *places: Node | None) -> Iterator[Diagnostic]:
    data = names.data_of.get(name)
    if data is None:
        if name not in _BUILT_IN:
            close = get_close_matches(name, names.data_of, n=1)
            hint = f"did you mean {close[0]}?" if close else "define it with `type`"
            yield _diagnostic("RY021", f"there is no type {name}", *places, hint=hint)
    elif len(args) != len(data.type_params):
        wanted = len(data.type_params)
        params = f"{name}[{', '.join(item.name for item in data.type_params)}]" if wanted else name
        message = f"{name} takes {plural(wanted, 'type argument')}, got {len(args)}"
        yield _diagnostic("RY021", message, *places, hint=f"it is defined as {params}")


@dataclass(slots=True)
class _RelayWalk:
    names: _Names
    root: Function
    binders: dict[Var, Node]
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    visible: set[Var] = field(default_factory=set[Var])
    type_params: frozenset[TypeVar] = frozenset()
    seen: dict[Node, int] = field(default_factory=dict[Node, int])
    """The nodes that were looked at, with the number of scopes that had been left by then."""
    left: int = 0
    budget: int = _AGAIN_LIMIT
    told: set[Node] = field(default_factory=set[Node])
    stack: list[_Step] = field(default_factory=list[_Step])

    def run(self) -> None:
        self.stack.append(self.root)
        while self.stack:
            match self.stack.pop():
                case Node() as node:
                    self._enter(node)
                case _EnterScope(variables=variables, type_params=type_params):
                    self.visible.update(variables)
                    self.type_params = self.type_params | frozenset(type_params)
                case _LeaveScope(variables=variables, type_params=type_params):
                    self.visible.difference_update(variables)
                    self.type_params = self.type_params - frozenset(type_params)
                    self.left += 1

    def _enter(self, node: Node) -> None:
        if isinstance(node, Var):
            self._use(node)
            return
        if isinstance(node, Op):
            return
        before = self.seen.get(node)
        self.seen[node] = self.left
        if before is not None:
            if before != self.left:
                self._again(node)
            return
        match node:
            case Call(type_args=type_args):
                # Most nodes are calls of operators, which bind and use nothing but their arguments.
                if type_args:
                    self._types(node, *type_args)
                self.stack += value_parts(node)[::-1]
            case Let():
                self._let(node)
            case Function():
                self._function(node)
            case Clause():
                self._clause(node)
            case Match(value=value, clauses=clauses):
                self._push(value, *clauses)
            case GlobalVar(name=name):
                if name not in self.names.globals:
                    close = get_close_matches(name, self.names.globals, n=1)
                    hint = f"did you mean @{close[0]}?" if close else "define it with `def`"
                    message = f"there is no function @{name} in the module"
                    self.diagnostics.append(
                        _diagnostic("RY032", message, node, self.root, hint=hint, severity="warning")
                    )
            case Constructor():
                self._constructor(node, node)
            case Expr():
                self._push(*children(node))
            case _:
                pass

    def _again(self, shared: Node) -> None:
        """Look at the variables below a node that stands in another place, too: they may be out of scope there."""
        inside: set[Node] = set()
        free: dict[Var, None] = {}
        seen: set[Node] = set()
        stack = [shared]
        while stack and self.budget > 0:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                self.budget -= 1
                match node:
                    case Var():
                        free[node] = None
                    case Function(params=params):
                        inside.update(params)
                    case Let(var=var) | PatternVar(var=var):
                        inside.add(var)
                    case _:
                        pass
                stack += value_parts(node)
        for var in free:
            if var not in inside:
                self._use(var)

    def _push(self, *steps: _Step) -> None:
        self.stack.extend(reversed(steps))

    def _say(self, code: str, message: str, *nodes: Node | None, hint: str = "") -> None:
        self.diagnostics.append(_diagnostic(code, message, *nodes, self.root, hint=hint))

    def _types(self, place: Node, *types: Type | None) -> None:
        for type_ in types:
            if type_ is not None:
                self.diagnostics.extend(_type_problems(type_, self.names, self.type_params, place, self.root))

    def _use(self, var: Var) -> None:
        if var not in self.visible and var not in self.told:
            self.told.add(var)
            self._say("RY030", f"%{var.name} is not bound", var, hint="bind it with let, or make it a parameter")

    def _binder(self, var: Var, place: Node) -> None:
        if var in self.binders and self.binders[var] is not place:
            self._say("RY031", f"%{var.name} is bound twice", place, var, hint="each binder has a variable of its own")
        self.binders[var] = place
        self._types(var, var.annotation)

    def _let(self, let: Let) -> None:
        self._binder(let.var, let)
        bind, own = _EnterScope((let.var,)), (let.var,)
        if isinstance(let.value, Function):
            self._push(bind, let.value, let.body, _LeaveScope(own))
        else:
            self._push(let.value, bind, let.body, _LeaveScope(own))

    def _function(self, function: Function) -> None:
        new_params = tuple(item for item in function.type_params if item not in self.type_params)
        self.type_params = self.type_params | frozenset(new_params)
        for param in function.params:
            self._binder(param, function)
        if len(set(function.params)) < len(function.params):
            self._say("RY031", "a parameter is named twice", function)
        self._types(function, function.ret_type)
        self._push(_EnterScope(function.params), function.body, _LeaveScope(function.params, new_params))

    def _clause(self, clause: Clause) -> None:
        variables: list[Var] = []
        patterns: list[Pattern] = [clause.pattern]
        while patterns:
            match patterns.pop():
                case PatternVar(var=var):
                    if var in variables:
                        self._say("RY031", f"%{var.name} is bound twice in one pattern", clause.pattern, var)
                    variables.append(var)
                    self._binder(var, clause)
                case PatternConstructor(constructor=constructor, patterns=inner) as pattern:
                    self._constructor(constructor, pattern)
                    patterns.extend(inner)
                case PatternTuple(patterns=inner):
                    patterns.extend(inner)
                case _:
                    pass
        own = tuple(variables)
        self._push(_EnterScope(own), clause.body, _LeaveScope(own))

    def _constructor(self, constructor: Constructor, place: Node) -> None:
        if constructor.type_name not in self.names.data_of and constructor not in self.told:
            self.told.add(constructor)
            self._say("RY021", f"the type {constructor.type_name} of {constructor.name} is not defined", place)
