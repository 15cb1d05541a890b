"""A walk through a function that knows at each node what is defined: the facts that well-formedness rules read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

from relax_core.check.kept.flat import flat_binding
from relax_core.check.purity import is_unchecked
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, nodes_in, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import type_nodes

LOOKED_AT = (Call, Constant, GlobalVar, If, Op)
"""The classes of expressions whose visits rules read."""
UseProblem: TypeAlias = Literal["undefined", "too early", "out of scope", "dataflow"]


@dataclass(frozen=True, slots=True)
class Visit:
    """An expression with the innermost function around it, and whether it is inside a dataflow block."""

    node: Expr
    function: Function
    is_in_dataflow: bool
    holder: Node


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of a variable: by a parameter, or by a binding in a block."""

    var: Var
    place: Node
    is_again: bool
    is_in_dataflow: bool


@dataclass(frozen=True, slots=True)
class WrongUse:
    """A variable that is not visible where it occurs; `holder` is the node that it occurs in."""

    var: Var
    holder: Node
    problem: UseProblem


@dataclass(frozen=True, slots=True)
class WrongSymbol:
    """A symbolic dimension that has no value where it occurs."""

    symbol: PrimVar
    holder: Node


@dataclass(frozen=True, slots=True)
class BindingContext:
    """Where a binding stands: inside a dataflow block or not, in a function that promises to be pure, and what symbols
    have a value there.
    """

    is_in_dataflow: bool
    is_in_pure: bool
    symbols: frozenset[PrimVar]

    def allows(self, earlier: "BindingContext") -> bool:
        """Tell whether what was well-formed at an `earlier` place is so at this one."""
        return self is earlier or (
            self.is_in_dataflow == earlier.is_in_dataflow
            and self.is_in_pure <= earlier.is_in_pure
            and self.symbols >= earlier.symbols
        )


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier form of a function, in which nothing was wrong, tells of this one.

    `contexts` are those of its bindings, and `globals` the prim funcs that are what they were.
    """

    contexts: Mapping[Binding, BindingContext] = field(default_factory=lambda: MappingProxyType({}))
    globals: frozenset[GlobalVar] = frozenset()


NOTHING_KNOWN = Known()


@dataclass(slots=True)
class DefUses:
    """What a walk through a function found, each list in the order of the text.

    Of bindings that are known to be well-formed it holds the `contexts` only. `visits` are those of the classes
    `LOOKED_AT`, by class.
    """

    visits: Mapping[type[Expr], list[Visit]] = field(default_factory=lambda: {kind: [] for kind in LOOKED_AT})
    definitions: list[Definition] = field(default_factory=list[Definition])
    wrong_uses: list[WrongUse] = field(default_factory=list[WrongUse])
    wrong_symbols: list[WrongSymbol] = field(default_factory=list[WrongSymbol])
    contexts: dict[Binding, BindingContext] = field(default_factory=dict[Binding, BindingContext])


@dataclass(frozen=True, slots=True)
class _Enter:
    expr: Expr
    holder: Node


@dataclass(frozen=True, slots=True)
class _Bind:
    binding: Binding


@dataclass(frozen=True, slots=True)
class _OpenBlock:
    is_dataflow: bool
    functions: tuple[VarBinding, ...] = ()


@dataclass(frozen=True, slots=True)
class _CloseScope:
    """Ends the scope of what was defined since `variable_count` and `symbol_count`; `None` leaves the symbols."""

    variable_count: int
    symbol_count: int | None
    function: Function
    is_in_dataflow: bool
    checked_return: Function | None = None


@dataclass(frozen=True, slots=True)
class _CloseBlock:
    variable_count: int
    is_in_dataflow: bool


@dataclass(frozen=True, slots=True)
class _Bindings:
    """What is left of the bindings of a block."""

    rest: Iterator[Binding]


_COMPOUND = (Call, Tuple, TupleGetItem, If, SeqExpr, Function)
"""What has parts that are expressions."""
_Step: TypeAlias = _Enter | _Bind | _Bindings | _OpenBlock | _CloseScope | _CloseBlock


def facts_of(function: Function, known: Known = NOTHING_KNOWN) -> DefUses:
    """Walk through `function` and everything in it that is not `known`, without recursion. Complexity: linear."""
    walk = _Walk(function, known)
    walk.run()
    return walk.facts


class _Walk:
    def __init__(self, root: Function, known: Known) -> None:
        self.facts = DefUses()
        self._root = root
        self._known = known
        self._function = root
        self._is_in_dataflow = False
        self._order: list[Var] = []
        self._visible: set[Var] = set()
        self._seen: dict[Var, UseProblem] = {}
        self._symbol_order: list[PrimVar] = []
        self._symbols: set[PrimVar] = set()
        self._stack: list[_Step] = []
        self._context: BindingContext | None = None

    @cached_property
    def _bound(self) -> frozenset[Var]:
        return frozenset(part.var for part in nodes_in(self._root) if isinstance(part, Binding))

    def run(self) -> None:
        self._stack.append(_Enter(self._root, self._root))
        while self._stack:
            match self._stack.pop():
                case _Enter(expr=expr, holder=holder):
                    self._enter(expr, holder)
                case _Bind(binding=binding):
                    self._bind(binding)
                case _Bindings(rest=rest):
                    self._enter_bindings(rest)
                case _OpenBlock(is_dataflow=is_dataflow, functions=functions):
                    self._is_in_dataflow = self._is_in_dataflow or is_dataflow
                    self._context = None
                    for binding in functions:
                        self._define(binding.var, binding, is_early=True)
                case _CloseBlock() as step:
                    self._close_block(step)
                case _CloseScope() as step:
                    self._close_scope(step)

    def _enter(self, expr: Expr, holder: Node) -> None:
        if isinstance(expr, Var):
            self._use(expr, holder)
            return
        visits = self.facts.visits.get(type(expr))
        if visits is not None:
            visits.append(Visit(expr, self._function, self._is_in_dataflow, holder))
        match expr:
            case Call(op=op, args=args, type_args=type_args):
                for type_ in type_args:
                    self._check_type(type_, expr)
                # An operator that is called is no value.
                self._enter_all(args if isinstance(op, Op) else (op, *args), expr)
            case Tuple(fields=fields):
                self._enter_all(fields, expr)
            case TupleGetItem(tuple_value=value):
                self._push(_Enter(value, expr))
            case If(condition=condition, true_branch=yes, false_branch=no):
                self._push(_Enter(condition, expr), _Enter(yes, expr), _Enter(no, expr))
            case ShapeExpr(values=values):
                self._check_prims(values, expr)
            case PrimValue(value=value):
                self._check_prims((value,), expr)
            case SeqExpr():
                self._sequence(expr, holder)
            case Function():
                self._enter_function(expr)
            case _:
                pass

    def _enter_all(self, parts: tuple[Expr, ...], holder: Node) -> None:
        """Enter parts in order: at once as long as nothing in them has to wait, as in most calls."""
        for index, part in enumerate(parts):
            if isinstance(part, Var):
                self._use(part, holder)
            elif not isinstance(part, _COMPOUND) or _is_flat_tuple(part):
                self._enter(part, holder)
            else:
                self._push(*(_Enter(item, holder) for item in parts[index:]))
                return

    def _push(self, *steps: _Step) -> None:
        self._stack.extend(reversed(steps))

    def _sequence(self, expr: SeqExpr, holder: Node) -> None:
        # The symbols of a function's body are visible in its declared result.
        symbol_count = None if isinstance(holder, Function) else len(self._symbol_order)
        close = _CloseScope(len(self._order), symbol_count, self._function, self._is_in_dataflow)
        steps: list[_Step] = []
        # A local function is visible before it is bound; one of a dataflow block only there.
        for block in expr.blocks:
            functions = _functions_in(block)
            for binding in functions:
                if not isinstance(binding.var, DataflowVar):
                    self._define(binding.var, binding, is_early=True)
            inside = tuple(item for item in functions if isinstance(item.var, DataflowVar))
            steps.append(_OpenBlock(isinstance(block, DataflowBlock), inside))
            steps.append(_Bindings(iter(block.bindings)))
            steps.append(_CloseBlock(close.variable_count, self._is_in_dataflow))
        self._push(*steps, _Enter(expr.body, expr), close)

    def _enter_bindings(self, rest: Iterator[Binding]) -> None:
        """Enter bindings in order, those whose values have nothing that has to wait at once."""
        stack = self._stack
        for binding in rest:
            if self._context is None:
                self._context = self._current_context()
            if not self._is_known(binding, self._context):
                self.facts.contexts[binding] = self._context
                height = len(stack)
                self._enter(binding.value, binding)
                if len(stack) > height:
                    stack[height:height] = [_Bindings(rest), _Bind(binding)]
                    return
                self._bind(binding)

    def _current_context(self) -> BindingContext:
        is_in_pure = self._function.is_pure and not is_unchecked(self._root)
        return BindingContext(self._is_in_dataflow, is_in_pure, frozenset(self._symbols))

    def _is_known(self, binding: Binding, context: BindingContext) -> bool:
        """Tell whether a binding is known to be well-formed at its place; if so its variable is defined."""
        earlier = self._known.contexts.get(binding)
        if earlier is None or not context.allows(earlier):
            return False
        flat = flat_binding(binding)
        var = binding.var
        if flat is None or var in self._visible or var in self._seen:
            return False
        if not self._visible.issuperset(flat.reads) or not self._known.globals.issuperset(flat.globals):
            return False
        self.facts.contexts[binding] = context
        self._order.append(var)
        self._visible.add(var)
        return True

    def _enter_function(self, function: Function) -> None:
        close = _CloseScope(
            len(self._order), len(self._symbol_order), self._function, self._is_in_dataflow, checked_return=function
        )
        self._function, self._is_in_dataflow, self._context = function, False, None
        for param in function.params:
            self._define(param, function)
            self._bind_symbols(param.annotation)
        for param in function.params:
            if param.annotation is not None:
                self._check_type(param.annotation, param)
        self._push(_Enter(function.body, function), close)

    def _bind(self, binding: Binding) -> None:
        match binding:
            case MatchCast(var=var, type=type_):
                self._bind_symbols(type_)
                self._check_type(type_, binding)
                self._define(var, binding)
            case VarBinding(var=var, value=value):
                if var.annotation is not None:
                    self._check_type(var.annotation, var if var.span is not None else binding)
                if not isinstance(value, Function):
                    self._define(var, binding)
            case _:
                pass

    def _define(self, var: Var, place: Node, *, is_early: bool = False) -> None:
        is_again = var in self._seen or var in self._visible
        in_dataflow = self._is_in_dataflow or (is_early and isinstance(var, DataflowVar))
        self.facts.definitions.append(Definition(var, place, is_again, in_dataflow))
        self._order.append(var)
        self._visible.add(var)

    def _use(self, var: Var, holder: Node) -> None:
        if var not in self._visible:
            problem = self._seen.get(var) or ("too early" if var in self._bound else "undefined")
            self.facts.wrong_uses.append(WrongUse(var, holder, problem))

    def _close_block(self, step: _CloseBlock) -> None:
        if self._is_in_dataflow and not step.is_in_dataflow:
            for var in self._order[step.variable_count :]:
                if isinstance(var, DataflowVar):
                    self._visible.discard(var)
                    self._seen[var] = "dataflow"
        self._is_in_dataflow = step.is_in_dataflow
        self._context = None

    def _close_scope(self, step: _CloseScope) -> None:
        if step.checked_return is not None and step.checked_return.ret_type is not None:
            self._check_type(step.checked_return.ret_type, step.checked_return)
        for var in self._order[step.variable_count :]:
            self._visible.discard(var)
            self._seen.setdefault(var, "out of scope")
        del self._order[step.variable_count :]
        if step.symbol_count is not None:
            self._symbols.difference_update(self._symbol_order[step.symbol_count :])
            del self._symbol_order[step.symbol_count :]
        self._function, self._is_in_dataflow = step.function, step.is_in_dataflow
        self._context = None

    def _bind_symbols(self, type_: Type | None) -> None:
        """Bring the symbols that are a whole dimension of `type_` into scope."""
        self._context = None
        if isinstance(type_, FuncType):
            return
        if isinstance(type_, TupleType):
            for item in type_.fields:
                self._bind_symbols(item)
            return
        for part in type_nodes(type_):
            if isinstance(part, PrimVar) and part not in self._symbols:
                self._symbols.add(part)
                self._symbol_order.append(part)

    def _check_type(self, type_: Type, holder: Node) -> None:
        match type_:
            case FuncType():
                # A callable's symbols are its own.
                return
            case TupleType(fields=fields):
                for item in fields:
                    self._check_type(item, holder)
            case _:
                for part in type_nodes(type_):
                    if isinstance(part, Var):
                        self._use(part, holder)
                    else:
                        self._check_prims((part,), holder)

    def _check_prims(self, values: tuple[PrimExpr, ...], holder: Node) -> None:
        for value in values:
            if type(value) is IntImm or value in self._symbols:
                continue
            for part in (value,) if isinstance(value, PrimVar) else preorder(value):
                if isinstance(part, PrimVar) and part not in self._symbols:
                    self.facts.wrong_symbols.append(WrongSymbol(part, holder))


def _is_flat_tuple(expr: Expr) -> bool:
    return isinstance(expr, Tuple) and not any(isinstance(item, _COMPOUND) for item in expr.fields)


def _functions_in(block: BindingBlock) -> tuple[VarBinding, ...]:
    return tuple(item for item in block.bindings if isinstance(item, VarBinding) and isinstance(item.value, Function))
