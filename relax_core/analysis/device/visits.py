"""Replay the context analysis of 2020: the order in which it visits functions, and the memo that hides some.

It starts at `main` and enters a function where it is called. What a parameter of function type is bound to is known
only while its function is entered: a function that is passed along is visited where the parameter is called. A memo
counts visits, and a function that was visited often enough is not entered again. See: the thread of seed 001, and TVM's
pull requests 6337 and 6403.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from relax_core.analysis.device.calls import callee_name
from relax_core.analysis.device.devices import is_primitive
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.trampoline import Steps, run

Visits = Literal["memo_body", "args_first"]
VISITS: tuple[Visits, ...] = ("memo_body", "args_first")
StepKind = Literal["enter", "argument", "memo hit", "recursion", "leave"]


@dataclass(frozen=True, slots=True)
class Visit:
    """One step, numbered from 0: what happens to `function` at `call`, below the functions of `path`.

    `count` is how often the function was visited, this time included. `passed` are the functions that the call passes
    along. `first` is the step of the visit before, which is what a memo hit finds.
    """

    number: int
    kind: StepKind
    function: str
    call: Node
    path: tuple[str, ...]
    count: int
    passed: tuple[str, ...] = ()
    first: int = -1

    @property
    def words(self) -> str:
        """Describe the step."""
        along = f" with {', '.join(f'@{name}' for name in self.passed)}" if self.passed else ""
        match self.kind:
            case "enter":
                return f"visit {self.count} of @{self.function}{along}"
            case "argument":
                return f"@{self.function} is an argument: visit {self.count}, its body is not entered"
            case "memo hit":
                return f"memo hit: @{self.function}{along} was visited at step {self.first}, so its body is left out"
            case "recursion":
                return f"@{self.function} calls itself{along}: it is being visited"
            case "leave":
                return f"end of @{self.function}"


@dataclass(frozen=True, slots=True)
class Visited:
    """The steps of an analysis, the functions that it entered, and for each other one the step that hid it."""

    steps: tuple[Visit, ...]
    entered: frozenset[str]
    hidden_by: Mapping[str, Visit]


@dataclass(slots=True)
class _Visitor:
    module: IRModule
    visits: Visits
    limit: int
    functions: dict[str, Function]
    steps: list[Visit] = field(default_factory=list[Visit])
    entered: set[str] = field(default_factory=set[str])
    active: list[str] = field(default_factory=list[str])
    count_of: dict[str, int] = field(default_factory=dict[str, int])
    last_of: dict[str, int] = field(default_factory=dict[str, int])
    stands_for: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    known_calls: set[tuple[str, tuple[Expr | None, ...]]] = field(
        default_factory=set["tuple[str, tuple[Expr | None, ...]]"]
    )
    hits: list[Visit] = field(default_factory=list[Visit])

    def say(self, kind: StepKind, name: str, call: Node, passed: tuple[str, ...] = ()) -> Visit:
        first = self.last_of.get(name, -1)
        step = Visit(len(self.steps), kind, name, call, tuple(self.active), self.count_of.get(name, 0), passed, first)
        self.steps.append(step)
        if kind in ("enter", "argument"):
            self.last_of[name] = step.number
        return step

    def count(self, name: str) -> None:
        """Count a visit in the memo."""
        self.count_of[name] = self.count_of.get(name, 0) + 1

    def meant(self, expr: Expr) -> Expr:
        """Return the function that a variable is bound to at this point."""
        seen: set[Expr] = set()
        while isinstance(expr, Var) and expr in self.stands_for and expr not in seen:
            seen.add(expr)
            expr = self.stands_for[expr]
        return expr

    def body(self, function: Function) -> Steps[None]:
        """Visit the body of a function in the order of evaluation; literals are visited in place."""
        for node in _in_order(function):
            match node:
                case Let(var=var, value=Function() | GlobalVar() | Var() as value):
                    self.stands_for[var] = value
                case Call():
                    yield self.call(node)
                case _:
                    pass

    def call(self, call: Call) -> Steps[None]:
        callee = self.meant(call.op)
        given = tuple(self.meant(arg) for arg in call.args)
        passed = tuple(item.name for item in given if isinstance(item, GlobalVar) and item.name in self.functions)
        match callee:
            case GlobalVar(name=name) if name in self.functions:
                function = self.functions[name]
            case Function() if callee is not call.op:
                # The literal was visited in place; this call binds its parameters.
                self.bind(callee, given)
                return
            case _:
                return
        if self.visits == "args_first":
            for item in passed:
                if self.count_of.get(item, 0) < self.limit:
                    self.count(item)
                    self.say("argument", item, call)
        is_direct = call.op is callee
        yield self.enter(name, function, call, (given, passed, is_direct))

    def bind(self, function: Function, given: tuple[Expr, ...]) -> None:
        for param, item in zip(function.params, given, strict=False):
            if isinstance(item, GlobalVar | Function):
                self.stands_for[param] = item

    def enter(
        self, name: str, function: Function, call: Node, how: tuple[tuple[Expr, ...], tuple[str, ...], bool]
    ) -> Steps[None]:
        given, passed, is_direct = how
        if name in self.active:
            self.say("recursion", name, call, passed)
            return
        if not self.may_enter(name, given, is_direct=is_direct):
            self.hits.append(self.say("memo hit", name, call, passed))
            return
        outer = {param: self.stands_for.get(param) for param in function.params}
        self.bind(function, given)
        self.count(name)
        self.say("enter", name, call, passed)
        self.entered.add(name)
        self.active.append(name)
        yield self.body(function)
        self.active.pop()
        self.say("leave", name, call)
        for param, item in outer.items():
            if item is None:
                self.stands_for.pop(param, None)
            else:
                self.stands_for[param] = item

    def may_enter(self, name: str, given: tuple[Expr, ...], *, is_direct: bool) -> bool:
        if self.visits == "memo_body" or not is_direct:
            return self.count_of.get(name, 0) < self.limit
        # A call with the same functions as an earlier one visits nothing else.
        key = (name, tuple(item if isinstance(item, GlobalVar | Function) else None for item in given))
        is_fresh = key not in self.known_calls
        self.known_calls.add(key)
        return is_fresh


def visit_functions(module: IRModule, visits: Visits, limit: int) -> Visited:
    """Visit the functions of `module` from `main`, or its first one, as the context analysis did.

    With `visits="memo_body"` the memo counts how often a body was entered; with "args_first" it counts a function also
    where it is an argument, before the body of the callee. Complexity: the number of calls times `limit`.
    """
    functions = {var.name: function for var, function in module.relax_functions if not is_primitive(function)}
    visitor = _Visitor(module, visits, limit, functions)
    start = "main" if "main" in functions else next(iter(functions), "")
    if start:
        run(visitor.enter(start, functions[start], functions[start], ((), (), True)))
    return Visited(tuple(visitor.steps), frozenset(visitor.entered), _hidden(visitor))


def _hidden(visitor: _Visitor) -> Mapping[str, Visit]:
    """Find for each function that was not entered the first memo hit that hid it or its caller."""
    found: dict[str, Visit] = {}
    for name in visitor.functions:
        if name not in visitor.entered:
            hit = next((item for item in visitor.hits if name == item.function or name in item.passed), None)
            if hit is not None:
                found[name] = hit
    queue = list(found)
    while queue:
        name = queue.pop()
        for node in _in_order(visitor.functions[name]):
            used = node.name if isinstance(node, GlobalVar) else ""
            if used in visitor.functions and used not in visitor.entered and used not in found:
                found[used] = found[name]
                queue.append(used)
    return found


def _in_order(root: Function) -> Iterator[Node]:
    """Yield the nodes below `root` in the order of evaluation, each once, a let before its body."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(child, False) for child in reversed(children(root))]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            yield node
        elif node not in seen:
            seen.add(node)
            if isinstance(node, Let):
                stack += ((node.body, False), (node, True), (node.value, False))
            elif not is_primitive(node):
                stack.append((node, True))
                stack += [(child, False) for child in reversed(children(node))]


def path_words(visit: Visit) -> str:
    """Return the functions that were being visited, outermost first."""
    return " → ".join(f"@{name}" for name in visit.path) or "the start"


def callee_words(visit: Visit) -> str:
    """Return the callee of the step's call as the text writes it."""
    return callee_name(visit.call.op) if isinstance(visit.call, Call) else f"@{visit.function}"
