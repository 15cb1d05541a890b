"""The value of a binding by the definitions of its operators, on the values that a recorded run read there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.moments.written import NothingToCompareError, Origin
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Function,
    MatchCast,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import substitute
from relax_core.ops import find
from relax_core.ops.relay.evaluate import Evaluation, evaluated
from relax_core.source import Source, Span
from relax_core.vm.condition import Moment
from relax_core.vm.conditions.condition_syntax import Name
from relax_core.vm.external.operators import expr_of_value, run_operator
from relax_core.vm.limits import Limits
from relax_core.vm.objects.values import DTypeValue, Sentinel, ShapeValue, Uninitialised, Value

_MOST: Final = 1_000
"""The most bindings that are computed for one that a pass made one with them."""


class _Room:
    """The memory that one value may take."""

    def __init__(self, limits: Limits) -> None:
        self._left = limits.memory_bytes

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Charge memory that is about to be allocated."""
        self._left -= size_bytes
        if self._left < 0:
            raise NothingToCompareError(f"there is no memory for {what}")


def defined_value(origin: Origin, modules: Iterable[IRModule], limits: Limits) -> Value:
    """Return what the binding of a value gives; what a run did not keep of what it reads is computed too.

    `modules` are the forms of the program in Relax, of which the first one that has the binding is taken.

    Raises:
        NothingToCompareError: no form has such a binding, or something in it is no operator.
        DiagnosedError: an operator cannot be computed.
    """
    for module in modules:
        bindings = {var.name: value for var, value in _bindings(origin, module)}
        name = next((item for item in origin.variables if item in bindings), None)
        if name is not None:
            return _Definitions(bindings, origin.moment, _Room(limits)).value(name)
    named = f" of `{origin.variables[0]}`" if origin.variables else ""
    raise NothingToCompareError(f"no form of the program has a binding{named}")


def _bindings(origin: Origin, module: IRModule) -> Iterator[tuple[Var, Expr]]:
    """Yield the bindings of the function that ran, or of all while passes made it; of one name the one that was met."""
    trace = origin.trace
    function = trace.executable.functions[trace.frames[origin.frame].function].name
    own = module.find(function)
    root: Node = own.function if isinstance(own, Definition) and isinstance(own.function, Function) else module
    found = [item for item in preorder(root) if isinstance(item, VarBinding | MatchCast)]
    met = [item for item in found if item.span is not None and item.span.line == origin.line]
    for item in (*found, *met):
        yield item.var, item.value


class _Definitions:
    """Values by name: those that the run holds, and those that are computed of them."""

    def __init__(self, bindings: Mapping[str, Expr], moment: Moment, room: _Room) -> None:
        self._bindings = bindings
        self._moment = moment
        self._room = room
        self._symbols = moment.dimensions()
        self._known: dict[str, Value] = {}

    def value(self, wanted: str) -> Value:
        """Compute a binding, and first those that it reads and the run does not hold."""
        pending = [wanted]
        while pending:
            if len(pending) + len(self._known) > _MOST:
                raise NothingToCompareError(f"more than {_MOST:,} bindings would have to be computed")
            name = pending[-1]
            missing = [other for other in self._read_by(name) if not self._is_known(other)]
            if missing:
                pending += missing
                continue
            self._known[name] = self._computed(self._bindings[name])
            pending.pop()
        return self._known[wanted]

    def _read_by(self, name: str) -> Iterator[str]:
        if name not in self._bindings:
            raise NothingToCompareError(f"`{name}` has no value there, and no binding")
        for item in preorder(self._bindings[name]):
            _require_operator(item)
            if isinstance(item, Var):
                yield item.name

    def _is_known(self, name: str) -> bool:
        if name in self._known:
            return True
        try:
            value = self._moment.value(Name(name, Span(Source("name", name), 0, len(name))))
        except DiagnosedError:
            return False
        if isinstance(value, Sentinel | Uninitialised):
            return False
        self._known[name] = value
        return True

    def _computed(self, expr: Expr) -> Value:
        variables: dict[Var, Expr] = {}
        symbols: dict[PrimVar, PrimExpr] = {}
        for item in preorder(expr):
            match item:
                case Var(name=name):
                    variables[item] = expr_of_value(self._known[name])
                case ShapeExpr() | PrimValue():
                    symbols |= {var: self._size(var) for var in preorder(item) if isinstance(var, PrimVar)}
                case _:
                    pass
        closed = substitute(expr, variables, symbols)
        return evaluated(closed, Evaluation(self._operator, ShapeValue, DTypeValue))

    def _size(self, var: PrimVar) -> PrimExpr:
        size: Any = self._symbols.get(var.name)
        if not isinstance(size, int):
            raise NothingToCompareError(f"the dimension `{var.name}` has no value there")
        return IntImm(size)

    def _operator(self, name: str, args: tuple[Any, ...]) -> Any:
        spec = find(name)
        assert spec is not None, "operators of the text are those of the table"
        return run_operator(self._room, spec, args)


def _require_operator(item: Node) -> None:
    match item:
        case Call(op=Op(name=name)):
            spec = find(name)
            if spec is None or spec.evaluate is None:
                raise NothingToCompareError(f"`{name}` has no definition in NumPy")
        case Call():
            raise NothingToCompareError("it is what a function returns: in that function it can be compared")
        case Var() | Constant() | PrimValue() | ShapeExpr() | DataTypeImm() | Null() | Tuple() | TupleGetItem() | Op():
            pass
        case Expr():
            raise NothingToCompareError("its binding is no expression of operators")
        case _:
            pass
