"""Host scalars in arithmetic: a scalar variable gets a symbol that represents it in scalar expressions.

In `b = a * 2` the variable `a` is a run-time value, and `a * 2` an expression over symbols. A parameter that is
computed with declares its symbol, as `a: R.Prim(value="a")` does; a binding matches its value with one, as `b =
R.match_cast(..., R.Prim(value="b"))` does; any other value is matched where it is first used.
"""

import ast
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain.plain_types import dims_in, names_in
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    DataflowVar,
    Expr,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    ObjectType,
    PrimType,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar, StringImm, dtype_of
from relax_core.source import Span

_NO_NUMBERS = ("string", "handle", "void", "")
_KEPT = (PrimType, TupleType, FuncType)
_WORD = re.compile(r"[^\W\d]\w*")
_SCALAR_CALLS = ("relax.shape", "relax.ShapeExpr", "relax.Tensor", "relax.Shape")


@dataclass(slots=True)
class PrimVariables:
    """What is known of variables while a function is read: types of scalars, tuples and functions, and symbols.

    A symbol that is created in a branch or block is in scope only there; `inner` opens such a scope. `result_of` holds
    the declared results of the module's functions, `local_result_of` those of local functions, `computed` the names
    that occur in scalar expressions of the function, `values` what variables are bound to.
    """

    result_of: Mapping[str, Type | None] = field(default_factory=dict[str, "Type | None"])
    local_result_of: dict[Var, Type | None] = field(default_factory=dict[Var, "Type | None"])
    type_of: dict[Var, Type] = field(default_factory=dict[Var, Type])
    symbol_of: dict[Expr, PrimExpr] = field(default_factory=dict[Expr, PrimExpr])
    is_dataflow: bool = False
    computed: "Container[str]" = ()
    values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])

    def inner(self) -> "PrimVariables":
        """Open an inner scope."""
        return replace(self, symbol_of=dict(self.symbol_of))

    def match(self, name: str, value: Expr, annotation: Type | None, span: Span) -> PrimType | None:
        """Return the type that the binding `name = value` matches its value with, so that `name` can be computed with.

        `None` if it is not computed with, is no scalar, or has a symbol or a literal for its value already.
        """
        found = self.unnamed(value, annotation)
        if found is None or name not in self.computed:
            return None
        return PrimType(found.dtype, PrimVar(name, found.dtype, span=span))

    def unnamed(self, value: Expr, annotation: Type | None) -> PrimType | None:
        """Return the type of a scalar that neither a symbol nor a literal stands for; `None` for other values."""
        if annotation is not None and not (isinstance(annotation, PrimType) and annotation.value is None):
            return None
        known = self.type(value)
        found = annotation if known is None or isinstance(known, ObjectType) else known
        if not isinstance(found, PrimType):
            return None
        if found.dtype in _NO_NUMBERS or isinstance(found.value, PrimVar | IntImm | FloatImm | StringImm):
            return None
        if isinstance(annotation, PrimType) and annotation.dtype != found.dtype:
            return None
        return found

    def note(self, var: Var, value: Expr) -> None:
        """Remember what a variable is bound to, and its type if it is a scalar, a tuple or a function."""
        self.values[var] = value
        found = self.type(value) if var.annotation is None else var.annotation
        if isinstance(found, _KEPT):
            self.type_of[var] = found

    def forget(self, bindings: Iterable[Binding]) -> None:
        """Drop the symbols of bindings that are taken back."""
        gone = {item.type.value for item in bindings if isinstance(item, MatchCast) and isinstance(item.type, PrimType)}
        for key in [key for key, symbol in self.symbol_of.items() if symbol in gone]:
            del self.symbol_of[key]

    def type(self, expr: Expr) -> Type | None:
        """Return the type of `expr` as far as the text shows that it is a scalar, a tuple or a function."""
        match expr:
            case PrimValue(value=value):
                return PrimType(dtype_of(value), value)
            case Var() if expr in self.local_result_of:
                return FuncType(None, self.local_result_of[expr] or OBJECT)
            case Var(annotation=annotation):
                return self.type_of.get(expr) if annotation is None else annotation
            case TupleGetItem(tuple_value=source, index=index):
                known = self.type(source)
                fields = known.fields if isinstance(known, TupleType) else ()
                return fields[index] if 0 <= index < len(fields) else None
            case Tuple(fields=fields):
                return TupleType(tuple(self.type(item) or OBJECT for item in fields))
            case Call(type_args=(only,)):
                return only
            case GlobalVar(name=name):
                return FuncType(None, self.result_of.get(name) or OBJECT)
            case Call(op=Var() as callee) if callee in self.local_result_of:
                return self.local_result_of[callee]
            case Call(op=GlobalVar() | Var() | TupleGetItem() as callee):
                function = self.type(callee)
                return function.ret if isinstance(function, FuncType) else None
            case SeqExpr(body=body):
                return self.type(body)
            case If(true_branch=yes, false_branch=no):
                return _shared(self.type(yes), self.type(no))
            case _:
                return None

    def is_scalar(self, expr: Expr) -> bool:
        """Tell whether `expr` is known to be a number or a truth value on the host."""
        found = self.type(expr)
        return isinstance(found, PrimType) and found.dtype not in _NO_NUMBERS

    def scalar(self, expr: Expr, bindings: list[Binding], span: Span) -> PrimExpr | None:
        """Return the scalar expression that stands for `expr`, after adding the binding that it needs to `bindings`.

        `None` if `expr` is not known to be a scalar.
        """
        found = self.type(expr)
        if not isinstance(found, PrimType) or found.dtype in _NO_NUMBERS:
            return None
        if isinstance(expr, PrimValue):
            return expr.value
        # A larger expression gets a symbol of its own: putting it in place of the variable each time, it would grow.
        if isinstance(found.value, PrimVar | IntImm | FloatImm | StringImm):
            return found.value
        symbol = self.symbol_of.get(expr)
        if symbol is None:
            name = expr.name if isinstance(expr, Var) else "scalar"
            symbol = self.symbol_of[expr] = PrimVar(name, found.dtype, span=span)
            var = (DataflowVar if self.is_dataflow else Var)(name, span=span)
            bindings.append(MatchCast(var, expr, PrimType(found.dtype, symbol), span=span))
        return symbol


def _shared(a: Type | None, b: Type | None) -> Type | None:
    """Join what is known of two values that a value may be."""
    match a, b:
        case PrimType(dtype=dtype), PrimType(dtype=other) if dtype == other:
            return PrimType(dtype)
        case TupleType(fields=fields), TupleType(fields=others) if len(fields) == len(others):
            return TupleType(tuple(_shared(*pair) or OBJECT for pair in zip(fields, others, strict=True)))
        case FuncType(ret=ret), FuncType(ret=other):
            return FuncType(None, _shared(ret, other) or OBJECT)
        case _:
            return None


@dataclass(slots=True)
class ComputedNames:
    """The names that stand in scalar expressions of a function; they are looked for when the first is asked for."""

    context: Context
    node: ast.FunctionDef
    found: frozenset[str] | None = None

    def __contains__(self, name: object) -> bool:
        if self.found is None:
            self.found = computed_names(self.context, self.node)
        return name in self.found


def computed_names(context: Context, node: ast.FunctionDef) -> frozenset[str]:
    """Return the names that stand in scalar expressions of a function: in arithmetic, dimensions, and calls of T."""
    found: set[str] = set()
    types = [item.annotation for item in node.args.args] + [node.returns]
    for type_ in types:
        found.update(_names_of_type(context, type_))
    stack: list[tuple[ast.AST, bool]] = [(item, False) for item in node.body]
    while stack:
        current, is_scalar = stack.pop()
        match current:
            case ast.Name(id=name) if (words := context.plain.get(name)) is not None:
                found.update(dims_in(words))
            case ast.Name(id=name):
                found.update((name,) if is_scalar else ())
            case ast.Call(func=func):
                name = qualified(func, context.aliases) or ""
                is_of_scalars = name.startswith("tir.") or name in _SCALAR_CALLS
                stack += [(item, is_of_scalars) for item in _parts(current) if item is not func]
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                stack += [(item, True) for item in ast.iter_child_nodes(current)]
            case ast.AnnAssign(annotation=annotation, value=value):
                found.update(_names_of_type(context, annotation))
                stack += [] if value is None else [(value, False)]
            case ast.Tuple() | ast.List():
                stack += [(item, is_scalar) for item in _parts(current)]
            case _:
                stack += [(item, False) for item in _parts(current)]
    return frozenset(found)


def _names_of_type(context: Context, node: ast.expr | None) -> set[str]:
    """The names in a type, whose dimensions may stand in quotes."""
    found: set[str] = set()
    if isinstance(node, ast.Name) and (words := context.plain.get(node.id)) is not None:
        return names_in(words)
    stack: list[ast.AST] = [] if node is None else [node]
    while stack:
        match stack.pop():
            case ast.Name(id=name):
                found.add(name)
            case ast.Constant(value=value):
                found.update(_WORD.findall(value) if isinstance(value, str) else ())
            case current:
                stack += _parts(current)
    return found


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """Return the nodes directly under one: those that are most frequent are taken apart here, several times faster."""
    match node:
        case ast.Constant() | ast.Name():
            return ()
        case ast.Attribute(value=value) | ast.Expr(value=value) | ast.keyword(value=value):
            return (value,)
        case ast.Call(func=func, args=args, keywords=keywords):
            return (func, *args, *[item.value for item in keywords])
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return elts
        case ast.Assign(targets=targets, value=value):
            return (*targets, value)
        case _:
            return ast.iter_child_nodes(node)


def with_symbol(type_: Type, name: str, span: Span) -> Type:
    """Return the type of a parameter that is computed with: a scalar gets a symbol of the parameter's name."""
    if isinstance(type_, PrimType) and type_.value is None and type_.dtype not in _NO_NUMBERS:
        return PrimType(type_.dtype, PrimVar(name, type_.dtype, span=span))
    return type_
