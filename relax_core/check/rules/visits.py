"""A walk through a function that knows at each node what is defined: the facts that well-formedness rules read."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    FuncType,
    If,
    MatchCast,
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


@dataclass(slots=True)
class DefUses:
    """What a walk through a function found, each list in the order of the text."""

    visits: list[Visit] = field(default_factory=list[Visit])
    definitions: list[Definition] = field(default_factory=list[Definition])
    wrong_uses: list[WrongUse] = field(default_factory=list[WrongUse])
    wrong_symbols: list[WrongSymbol] = field(default_factory=list[WrongSymbol])


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


_COMPOUND = (Call, Tuple, TupleGetItem, If, SeqExpr, Function)
"""What has parts that are expressions."""
_Step: TypeAlias = _Enter | _Bind | _OpenBlock | _CloseScope | _CloseBlock


def facts_of(function: Function) -> DefUses:
    """Walk through `function` and everything in it, without recursion. Complexity: linear."""
    walk = _Walk(function)
    walk.run()
    return walk.facts


class _Walk:
    def __init__(self, root: Function) -> None:
        self.facts = DefUses()
        self._root = root
        self._function = root
        self._is_in_dataflow = False
        self._order: list[Var] = []
        self._visible: set[Var] = set()
        self._seen: dict[Var, UseProblem] = {}
        self._later: set[Var] = set()
        self._symbol_order: list[PrimVar] = []
        self._symbols: set[PrimVar] = set()
        self._stack: list[_Step] = []

    def run(self) -> None:
        for part in nodes_in(self._root):
            if isinstance(part, Binding):
                self._later.add(part.var)
        self._stack.append(_Enter(self._root, self._root))
        while self._stack:
            match self._stack.pop():
                case _Enter(expr=expr, holder=holder):
                    self._enter(expr, holder)
                case _Bind(binding=binding):
                    self._bind(binding)
                case _OpenBlock(is_dataflow=is_dataflow, functions=functions):
                    self._is_in_dataflow = self._is_in_dataflow or is_dataflow
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
        self.facts.visits.append(Visit(expr, self._function, self._is_in_dataflow, holder))
        match expr:
            case Call(op=op, args=args, type_args=type_args):
                for type_ in type_args:
                    self._check_type(type_, expr)
                self._enter_all((op, *args), expr)
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
            for binding in block.bindings:
                steps += [_Enter(binding.value, binding), _Bind(binding)]
            steps.append(_CloseBlock(close.variable_count, self._is_in_dataflow))
        self._push(*steps, _Enter(expr.body, expr), close)

    def _enter_function(self, function: Function) -> None:
        close = _CloseScope(
            len(self._order), len(self._symbol_order), self._function, self._is_in_dataflow, checked_return=function
        )
        self._function, self._is_in_dataflow = function, False
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
            problem = self._seen.get(var, "too early" if var in self._later else "undefined")
            self.facts.wrong_uses.append(WrongUse(var, holder, problem))

    def _close_block(self, step: _CloseBlock) -> None:
        if self._is_in_dataflow and not step.is_in_dataflow:
            for var in self._order[step.variable_count :]:
                if isinstance(var, DataflowVar):
                    self._visible.discard(var)
                    self._seen[var] = "dataflow"
        self._is_in_dataflow = step.is_in_dataflow

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

    def _bind_symbols(self, type_: Type | None) -> None:
        """Bring the symbols that are a whole dimension of `type_` into scope."""
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
            if isinstance(value, IntImm):
                continue
            for part in (value,) if isinstance(value, PrimVar) else preorder(value):
                if isinstance(part, PrimVar) and part not in self._symbols:
                    self.facts.wrong_symbols.append(WrongSymbol(part, holder))


def _is_flat_tuple(expr: Expr) -> bool:
    return isinstance(expr, Tuple) and not any(isinstance(item, _COMPOUND) for item in expr.fields)


def _functions_in(block: BindingBlock) -> tuple[VarBinding, ...]:
    return tuple(item for item in block.bindings if isinstance(item, VarBinding) and isinstance(item.value, Function))
