"""The parts of a function of Relax or Relay."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from relax_core.analysis.matching.parts import Operand, Outline, OutlineBuilder, Part, PartKind
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relax_core.ir.module import Definition
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar, StringImm
from relax_core.ir.relay import Constructor, Let, Match, PatternVar
from relax_core.ops.relay import RELAY_OPS

CLOSURE: Final = "closure"
"""The operator of a call of a function that is a value, however it is written."""
_DESTINATION: Final = ("relax.call_tir", "relax.call_dps_packed", "relax.call_tir_inplace", "relax.call_tir_with_grad")
_PACKED: Final = ("relax.call_pure_packed", "relax.call_inplace_packed", "relax.call_builtin_with_ctx")
_INVOKES: Final = ("relax.invoke_closure", "relax.invoke_pure_closure", "vm.builtin.invoke_closure")
_MAKES_DATA: Final = "vm.builtin.make_adt"
_CAPITAL: Final = re.compile("([A-Z])")
_SHOWN_ELEMENTS: Final = 8
_KIND_OF: Final[tuple[tuple[type[Node], PartKind], ...]] = (
    (Call, "call"),
    (TupleGetItem, "field"),
    (Tuple, "tuple"),
    (If, "if"),
    (Match, "match"),
)


def outline_of_function(definition: Definition) -> Outline:
    """Return the parts of a function in the order of evaluation."""
    assert isinstance(definition.function, Function)
    return _Reader(definition, definition.function).outline()


class _Reader:
    """Goes through a function without recursion: expressions may be nested deeply."""

    def __init__(self, definition: Definition, function: Function) -> None:
        self._made = OutlineBuilder(definition.var.name)
        self._part_of_var: dict[Var, Part] = {}
        self._todo: list[Callable[[], None]] = []
        # In Relay a tuple is a value among others; the tuples that are written in a call of Relax are a list.
        self._is_flat = isinstance(function.body, SeqExpr)
        top = self._made.add("function", definition.var.name, function, None, definition)
        self._inside(function, top)

    def outline(self) -> Outline:
        while self._todo:
            self._todo.pop()()
        self._open_calls()
        return self._made.done(is_prim=False)

    def _open_calls(self) -> None:
        """Let a function that is written where it is called, once, be what it does there."""
        uses: defaultdict[Part, list[Part]] = defaultdict(list)
        for part in self._made.parts:
            for item in part.operands:
                if isinstance(item, Part) and item.kind == "function":
                    uses[item].append(part)
        params: defaultdict[Part, list[Part]] = defaultdict(list)
        for part in self._made.parts:
            if part.kind == "parameter" and part.parent in uses:
                params[part.parent].append(part)
        for function, users in uses.items():
            call = users[0]
            if len(users) > 1 or call.operator != CLOSURE or function not in call.operands[:1]:
                continue
            for param, argument in zip(params[function], call.operands[1:], strict=False):
                param.value = argument
            if [len(item) for item in function.results] == [1]:
                call.value = function.results[0][0]

    def _push(self, *steps: Callable[[], None]) -> None:
        self._todo += reversed(steps)

    def _inside(self, function: Function, part: Part) -> None:
        for param in function.params:
            self._part_of_var[param] = self._made.add("parameter", param.name, param, part)
        self._body(function.body, part)

    def _body(self, body: Expr, parent: Part) -> None:
        """Push the bindings of a body and, behind them, what it returns."""
        steps: list[Callable[[], None]] = []
        whole, result = body, body
        while isinstance(result, SeqExpr | Let):
            whole = result
            if isinstance(result, Let):
                steps.append(self._binder(result, result.var, result.value, parent))
            else:
                found = [item for block in result.blocks for item in block.bindings]
                steps += [self._binder(item, item.var, item.value, parent) for item in found]
            result = result.body
        last = result
        steps += [self._visitor(item, parent) for item in self._compounds(last)]
        steps.append(lambda: self._return(whole, last, parent))
        self._push(*steps)

    def _return(self, whole: Expr, result: Expr, parent: Part) -> None:
        operands = tuple(self._operands(result))
        if isinstance(whole, SeqExpr):
            part = self._made.add("result", "", whole, parent)
            # What it returns may be a variable, whose node stands where it is bound.
            part.line = whole.span.source.line_column(max(whole.span.start, whole.span.end - 1))[0] if whole.span else 0
            part.operands = operands
        parent.results = (*parent.results, operands)

    def _binder(self, node: Node, var: Var, value: Expr, parent: Part) -> Callable[[], None]:
        return lambda: self._bind(node, var, value, parent)

    def _bind(self, node: Node, var: Var, value: Expr, parent: Part) -> None:
        def finish() -> None:
            kind = _kind_of(value) if isinstance(value, If | Match) and not isinstance(node, MatchCast) else "binding"
            shared = self._made.part_of.get(value)
            part = self._made.add(kind, var.name, node, parent, var, value)
            self._part_of_var[var] = part
            if shared is not None and not isinstance(value, Var):
                # A graph has one expression in several places: it is computed once.
                part.operator, part.operands, part.value = "=", (shared,), shared
            elif isinstance(node, MatchCast):
                part.operator, part.operands = "match_cast", tuple(self._operands(value))
            else:
                self._describe(value, part)

        if isinstance(value, Function) and not isinstance(node, MatchCast):
            part = self._made.add("function", var.name, node, parent, var, value)
            self._part_of_var[var] = part
            self._inside(value, part)
            return
        inner = [value] if isinstance(node, MatchCast) else list(self._inner(value))
        self._push(*(self._visitor(item, parent) for root in inner for item in self._compounds(root)), finish)

    def _visitor(self, expr: Expr, parent: Part) -> Callable[[], None]:
        return lambda: self._visit(expr, parent)

    def _visit(self, expr: Expr, parent: Part) -> None:
        """Make a part of an expression that is bound to no variable."""
        if expr in self._made.part_of:
            return
        if isinstance(expr, Function):
            self._inside(expr, self._made.add("function", "", expr, parent))
        elif isinstance(expr, SeqExpr | Let):
            self._body(expr, parent)
        else:

            def finish() -> None:
                if expr not in self._made.part_of:
                    self._describe(expr, self._made.add(_kind_of(expr), "", expr, parent))

            inner = (item for root in self._inner(expr) for item in self._compounds(root))
            self._push(*(self._visitor(item, parent) for item in inner), finish)

    def _inner(self, expr: Expr) -> Iterator[Expr]:
        """Yield what is evaluated before an expression."""
        match expr:
            case If(condition=condition):
                yield condition
            case Match(value=value):
                yield value
            case _:
                yield from (item for item in children(expr) if isinstance(item, Expr))

    def _compounds(self, expr: Expr) -> Iterator[Expr]:
        """Yield the outermost expressions of `expr`, itself included, that are parts of their own."""
        match expr:
            case Tuple(fields=fields) if self._is_flat:
                for item in fields:
                    yield from self._compounds(item)
            case Var() | GlobalVar() | Op() | ExternFunc() | Constructor() | Constant() | PrimValue() | ShapeExpr():
                pass
            case _ if expr.CHILDREN:
                yield expr
            case _:
                pass

    def _operands(self, expr: Expr) -> Iterator[Operand]:
        match expr:
            case Var():
                yield self._part_of_var.get(expr, expr.name)
            case Tuple(fields=fields) if self._is_flat and expr not in self._made.part_of:
                for item in fields:
                    yield from self._operands(item)
            case GlobalVar(name=name):
                self._made.callees.add(name)
                yield f"@{name}"
            case _ if expr in self._made.part_of:
                yield self._made.part_of[expr]
            case SeqExpr(body=body) | Let(body=body):
                yield from self._operands(body)
            case _:
                yield literal_text(expr)

    def _describe(self, expr: Expr, part: Part) -> None:
        """Fill in what a part computes, and go on with what is in it."""
        args: tuple[Expr, ...] = ()
        is_identity = False
        match expr:
            case Call():
                args = _describe_call(expr, part)
                part.attributes = expr.attrs
                if not self._is_flat:
                    spec = RELAY_OPS.get(part.operator)
                    if spec is not None and spec.relax:
                        # The operator of Relax of the same kind.
                        part.operator = spec.relax[0]
                    is_identity = spec is not None and spec.is_identity
            case TupleGetItem(tuple_value=value, index=index):
                part.operator, args = f"field {index}", (value,)
            case Tuple(fields=fields):
                part.operator, args = "tuple", fields
            case If(condition=condition, true_branch=yes, false_branch=no):
                part.operator, args = "if", (condition,)
                self._push(lambda: self._body(yes, part), lambda: self._body(no, part))
            case Match(value=value, clauses=clauses):
                part.operator, args = "match", (value,)
                for clause in reversed(clauses):
                    bound = [item.var for item in preorder(clause.pattern) if isinstance(item, PatternVar)]
                    for var in bound:
                        self._part_of_var[var] = self._made.add("parameter", var.name, var, part)
                    self._push(lambda body=clause.body: self._body(body, part))
            case Var():
                part.operator, args = "=", (expr,)
            case _:
                inner = tuple(item for item in children(expr) if isinstance(item, Expr))
                part.operator, args = _snake_case(type(expr).__name__), inner or (expr,)
        if part.callee:
            self._made.callees.add(part.callee)
        part.operands = tuple(operand for item in args for operand in self._operands(item))
        if part.operator == "=" or is_identity:
            part.value = part.operands[0]


def _snake_case(name: str) -> str:
    """Return the name of a class as a function would have it: `ref_read` of `RefRead`."""
    return _CAPITAL.sub(r"_\1", name).lower().lstrip("_")


def _describe_call(call: Call, part: Part) -> tuple[Expr, ...]:
    """Fill in what a call calls, and return its arguments."""
    match call:
        case Call(op=Op(name=name), args=(GlobalVar(name=callee), *rest)) if name in _DESTINATION:
            part.operator, part.callee = "call_tir", callee
            return tuple(rest)
        case Call(op=Op(name=name), args=(ExternFunc(name=called), *rest)) if name in _DESTINATION:
            part.operator = called
            return tuple(rest)
        case Call(op=Op(name=name), args=args) if name in _INVOKES:
            part.operator = CLOSURE
            return args
        case Call(op=Op(name=name), args=(ExternFunc(name=called), *rest)) if name in _PACKED:
            return _describe_packed(called, tuple(rest), part)
        case Call(op=Op(name=name), args=args):
            part.operator = name
            part.callee = next((item.name for item in args if isinstance(item, GlobalVar)), "")
            return args
        case Call(op=GlobalVar(name=callee), args=args):
            part.operator, part.callee = "call", callee
            return args
        case Call(op=ExternFunc(name=name), args=args):
            return _describe_packed(name, args, part)
        case Call(op=Constructor(name=name), args=args):
            part.operator = name
            return args
        case _:
            part.operator = CLOSURE
            return (call.op, *call.args)


def _describe_packed(name: str, args: tuple[Expr, ...], part: Part) -> tuple[Expr, ...]:
    """Fill in what a call of a packed function calls; one that makes a value of a data type is its constructor."""
    match args:
        case (PrimValue(value=StringImm(value=constructor)), PrimValue(), *fields) if name == _MAKES_DATA:
            part.operator = constructor
            return tuple(fields)
        case _:
            part.operator = CLOSURE if name in _INVOKES else name
            return args


def _kind_of(expr: Expr) -> PartKind:
    for cls, kind in _KIND_OF:
        if isinstance(expr, cls):
            return kind
    return "call"


def literal_text(expr: Node) -> str:
    """Return a text that is the same for equal literals, and cheap for large ones."""
    match expr:
        case Constant(data=data):
            values = data.tolist() if data.size <= _SHOWN_ELEMENTS else "..."
            return f"{data.dtype}{data.shape} {values}"
        case PrimValue(value=value):
            return prim_text(value)
        case ShapeExpr(values=values):
            return f"({', '.join(map(prim_text, values))})"
        case DataTypeImm(value=value):
            return value
        case _:
            return type(expr).__name__


def prim_text(expr: PrimExpr) -> str:
    """Return a text that is the same for equal scalar expressions."""
    words: list[str] = []
    for node in preorder(expr):
        match node:
            case IntImm(value=value) | FloatImm(value=value) | StringImm(value=value):
                words.append(str(value))
            case PrimVar(name=name):
                words.append(name)
            case _:
                words.append(str(getattr(node, "op", getattr(node, "name", type(node).__name__))))
    return " ".join(words)
