"""The definitional interpreter of Relay: what a program means, by the shortest way.

Call by value, from left to right. A node that is shared is computed once per entry of the scope that it belongs to
(`analysis/relay_scopes.py`). Nothing depends on types. Programs may be deep and recursive: no step uses the host's
stack, and a call in tail position leaves none behind.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.analysis.device.devices import declared_devices
from relax_core.analysis.relay_scopes import ATOMS, Scope, Scopes, scopes_of
from relax_core.diagnostics import DiagnosedError, RunError, plural
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import (
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
)
from relax_core.ir.rewriting.trampoline import Steps, run
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.evaluate import Evaluation, evaluated
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax import to_relax
from relax_core.ops.spec import OpTypeError
from relax_core.vm.builtin.data_builtins import as_reference, no_clause
from relax_core.vm.context import fail
from relax_core.vm.external.operators import Budget, expr_of_value, run_operator, type_of_value
from relax_core.vm.limits import Limits
from relax_core.vm.objects.placed import placed
from relax_core.vm.objects.values import AdtValue, DTypeValue, ObjectValue, RefValue, ShapeValue, Value, describe
from relax_core.vm.relay.memory import MEMORY_OPERATORS, Copied, check_devices


def run_relay_operator(budget: Budget, name: str, attrs: Attrs, args: tuple[Value, ...]) -> Value:
    """Evaluate a Relay operator.

    Raises:
        RunError: VM017 if Relax cannot express the call or it cannot be computed, VM006 for lack of memory.
    """
    spec = RELAY_OPS.get(name)
    if spec is None:
        fail("VM017", f"nothing is known of the operator `{name}`, so it cannot run")
    if spec.is_identity:
        return args[0]
    types, literals = tuple(map(type_of_value, args)), tuple(map(expr_of_value, args))
    try:
        expr = to_relax(RelayCall(name, types, spec.with_defaults(dict(attrs)), literals))
    except OpTypeError as error:
        fail("VM017", error.message, error.hint)
    return evaluate(budget, expr)


def evaluate(budget: Budget, expr: Expr) -> Value:
    """Evaluate an expression of operators and literals; shared parts once."""

    def operator(name: str, args: tuple[Value, ...]) -> Value:
        spec = find(name)
        assert spec is not None, f"{name} is an operator of the table"
        return run_operator(budget, spec, args)

    return evaluated(expr, Evaluation(operator, ShapeValue, DTypeValue))


_WAITING_PER_CALL: Final = 10
"""So many computations may wait for each nested call that the limit of depth allows."""
_CHUNK: Final = 1024


@dataclass(slots=True, eq=False)
class Environment:
    """One entry of a scope: what is bound in it, and the shared nodes that were computed in it."""

    scopes: Scopes
    scope: Scope
    parent: "Environment | None"
    value_of: dict[Node, Value] = field(default_factory=dict[Node, Value])

    def find(self, var: Var) -> Value:
        """Return what a variable is bound to."""
        frame: Environment | None = self
        while frame is not None:
            if var in frame.value_of:
                return frame.value_of[var]
            frame = frame.parent
        fail("RY030", f"nothing binds %{var.name}", span=var.span)

    def home(self, expr: Expr) -> "Environment":
        """Return the entry of the scope that `expr` belongs to."""
        wanted = self.scopes.scope_of[expr]
        frame: Environment | None = self
        while frame is not None and frame.scope is not wanted:
            frame = frame.parent
        assert frame is not None, "a node is used inside its scope"
        return frame

    def enter(self, owner: Expr, slot: int) -> "Environment":
        """Enter a scope that `owner` opens."""
        return Environment(self.scopes, self.scopes.inner[owner][slot], self)


@dataclass(frozen=True, slots=True, eq=False)
class Lambda:
    """A function value: the function and the frame that it was made in."""

    function: Function
    frame: Environment


class RelayInterpreter:
    """Runs functions of one module, one at a time."""

    def __init__(self, module: IRModule, limits: Limits | None = None) -> None:
        self._module = module
        self._limits = limits or Limits()
        self._globals: dict[str, Lambda] = {}
        self._tags: Mapping[str, int] = {
            constructor.name: tag for data in module.type_data for tag, constructor in enumerate(data.constructors)
        }
        self._steps = 0
        self._deadline = time.monotonic() + self._limits.seconds
        self._place: Node | None = None
        self.copies: list[Copied] = []

    def call(self, name: str, args: tuple[Value, ...]) -> Value:
        """Call a function of the module.

        Raises:
            RunError: VM009 without such a function, VM010 for a wrong number of arguments, VM003 to VM005 for endless
                recursion, VM022 if no clause matches, VM017 for an operator that Relax cannot express, and so on.
        """
        self._steps, self._place = 0, None
        self._deadline = time.monotonic() + self._limits.seconds
        found = self._module.find(name)
        if found is None or not isinstance(found.function, Function):
            fail("VM009", f"there is no function `{name}` to run", f"functions: {', '.join(self._module.names)}")
        params, _ = declared_devices(found.function)
        given = args if len(args) != len(params) else tuple(map(placed, args, params))
        return self.apply(self._global(name), given)

    def kernel(self, function: Value, args: tuple[Value, ...]) -> Value:
        """Call a function that stands for one operator."""
        return self.apply(self._lambda(function), args)

    def parameters(self, function: Value) -> tuple[Var, ...]:
        """Return the parameters of a function value."""
        return self._lambda(function).function.params

    def _lambda(self, function: Value) -> Lambda:
        content = function.content if isinstance(function, ObjectValue) else None
        if not isinstance(content, Lambda):
            fail("VM014", f"expected a function to call, got {describe(function)}")
        return content

    def apply(self, callee: Lambda, args: tuple[Value, ...]) -> Value:
        """Call a function value."""
        try:
            frame = self._bound(callee, args)
            return run(self._eval(callee.function.body, frame), self._check_depth)
        except DiagnosedError as error:
            first, *rest = error.diagnostics
            if first.span is None and self._place is not None:
                first = replace(first, span=self._place.span)
            raise RunError((first, *rest)) from error

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Refuse a result that is larger than the limit of a run; VM006."""
        if size_bytes > self._limits.memory_bytes:
            fail("VM006", f"{what} needs {size_bytes:,} bytes, the limit of a run is {self._limits.memory_bytes:,}")

    def _global(self, name: str) -> Lambda:
        known = self._globals.get(name)
        if known is not None:
            return known
        found = self._module.find(name)
        if found is None or not isinstance(found.function, Function):
            fail("RY032", f"the module has no function @{name}")
        scopes = scopes_of(found.function)
        made = self._globals[name] = Lambda(found.function, Environment(scopes, scopes.root, None))
        return made

    def _check_depth(self, depth: int) -> None:
        if depth > _WAITING_PER_CALL * self._limits.depth:
            fail("VM003", f"{depth:,} computations wait for each other", "give the recursion an end")

    def _count(self, expr: Expr) -> None:
        self._steps += 1
        if self._steps > self._limits.events:
            fail("VM004", f"the program took more than {self._limits.events:,} steps")
        if not self._steps % _CHUNK and time.monotonic() > self._deadline:
            fail("VM005", f"the program ran longer than {self._limits.seconds:g} seconds")
        if expr.span is not None:
            self._place = expr

    def _bound(self, callee: Lambda, args: tuple[Value, ...]) -> Environment:
        params = callee.function.params
        if len(params) != len(args):
            fail("VM010", f"the function takes {plural(len(params), 'argument')}, got {len(args)}")
        frame = callee.frame.enter(callee.function, 0)
        frame.value_of.update(zip(params, args, strict=True))
        return frame

    def _eval(self, expr: Expr, frame: Environment, *, is_fresh: bool = False) -> Steps[Value]:
        """Compute `expr`; with `is_fresh` it was looked up already."""
        while True:
            if isinstance(expr, ATOMS):
                return self._atom(expr, frame)
            if expr in frame.scopes.shared and not is_fresh:
                return (yield self._shared(expr, frame.home(expr)))
            is_fresh = False
            self._count(expr)
            match expr:
                case Let(var=var, value=value, body=body):
                    frame.value_of[var] = yield self._eval(value, frame)
                    expr = body
                case If(condition=condition, true_branch=yes, false_branch=no):
                    is_true = self._truth((yield self._eval(condition, frame)))
                    frame, expr = frame.enter(expr, 0 if is_true else 1), yes if is_true else no
                case Match(value=value, clauses=clauses):
                    given = yield self._eval(value, frame)
                    number, bound = self._clause(expr, given)
                    frame, expr = frame.enter(expr, number), clauses[number].body
                    frame.value_of.update(bound)
                case Call(op=op, args=args):
                    callee = self._atom(op, frame) if isinstance(op, ATOMS) else (yield self._eval(op, frame))
                    given_args = yield self._all(args, frame)
                    self._place = expr if expr.span is not None else self._place
                    target = callee.content if isinstance(callee, ObjectValue) else callee
                    if not isinstance(target, Lambda):
                        return self._called(target, expr, given_args)
                    frame, expr = self._bound(target, given_args), target.function.body
                case _:
                    return (yield self._simple(expr, frame))

    def _shared(self, expr: Expr, home: Environment) -> Steps[Value]:
        if expr not in home.value_of:
            home.value_of[expr] = yield self._eval(expr, home, is_fresh=True)
        return home.value_of[expr]

    def _all(self, exprs: tuple[Expr, ...], frame: Environment) -> Steps[tuple[Value, ...]]:
        values: list[Value] = []
        for item in exprs:
            values.append(self._atom(item, frame) if isinstance(item, ATOMS) else (yield self._eval(item, frame)))
        return tuple(values)

    def _atom(self, expr: Expr, frame: Environment) -> Value:
        match expr:
            case Var():
                return frame.find(expr)
            case Constant(data=data):
                return data
            case GlobalVar(name=name):
                return ObjectValue(self._global(name))
            case Constructor(name=name, field_types=()):
                return AdtValue(name, self._tags[name])
            case _:
                return ObjectValue(expr)

    def _simple(self, expr: Expr, frame: Environment) -> Steps[Value]:
        """Compute an expression that is neither a choice nor a call."""
        match expr:
            case Function():
                return ObjectValue(Lambda(expr, frame))
            case Tuple(fields=fields):
                return (yield self._all(fields, frame))
            case TupleGetItem(tuple_value=inner, index=index):
                return _field((yield self._eval(inner, frame)), index)
            case RefCreate(value=inner):
                return RefValue((yield self._eval(inner, frame)))
            case RefRead(ref=inner):
                return as_reference((yield self._eval(inner, frame))).value
            case RefWrite(ref=ref, value=inner):
                target = as_reference((yield self._eval(ref, frame)))
                target.write((yield self._eval(inner, frame)))
                return ()
            case _:
                self._refuse(expr)

    def _refuse(self, expr: Expr) -> NoReturn:
        fail("RY018", f"{type(expr).__name__} is no expression of Relay", span=expr.span)

    def _truth(self, value: Value) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim:
            fail("VM015", f"the condition of `if` must be a scalar, got {describe(value)}")
        return bool(value[()])

    def _called(self, callee: Any, call: Call, args: tuple[Value, ...]) -> Value:
        """Call what is no function of the program."""
        match callee:
            case Op(name=name) if name in MEMORY_OPERATORS and callee is call.op:
                return MEMORY_OPERATORS[name](self, call, args)
            case Op(name=name):
                device = check_devices(name, args)
                return placed(run_relay_operator(self, name, call.attrs if callee is call.op else (), args), device)
            case Constructor(name=name):
                return AdtValue(name, self._tags[name], args)
            case AdtValue() if not args:
                return callee
            case _:
                fail("VM014", f"expected a function to call, got {describe(callee)}")

    def _clause(self, match_: Match, value: Value) -> tuple[int, dict[Node, Value]]:
        """Return the first clause that takes `value`, and what its variables stand for."""
        for number, clause in enumerate(match_.clauses):
            bound = _matched(clause.pattern, value)
            if bound is not None:
                return number, bound
        self._place = match_ if match_.span is not None else self._place
        no_clause(value)


def _field(value: Value, index: int) -> Value:
    match value:
        case tuple() if 0 <= index < len(value):
            return value[index]
        case _:
            fail("VM020", f"there is no field {index} in a {describe(value)}")


def _matched(pattern: Pattern, value: Value) -> dict[Node, Value] | None:
    """Return what the variables of a pattern stand for if it takes `value`."""
    bound: dict[Node, Value] = {}
    stack: list[tuple[Pattern, Value]] = [(pattern, value)]
    while stack:
        current, part = stack.pop()
        match current, part:
            case PatternWildcard(), _:
                pass
            case PatternVar(var=var), _:
                bound[var] = part
            case PatternConstructor(constructor=constructor, patterns=patterns), AdtValue(name=name, fields=fields):
                if name != constructor.name or len(fields) != len(patterns):
                    return None
                stack.extend(zip(patterns, fields, strict=True))
            case PatternTuple(patterns=patterns), tuple() if len(part) == len(patterns):
                stack.extend(zip(patterns, part, strict=True))
            case _:
                return None
    return bound
