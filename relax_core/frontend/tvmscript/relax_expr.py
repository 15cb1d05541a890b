"""Read Relax expressions."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import TypeAlias

from relax_core.frontend.tvmscript import relax_calls
from relax_core.frontend.tvmscript.coerce import to_expr, to_scalar
from relax_core.frontend.tvmscript.context import Context, Failed, Place, every, source_of
from relax_core.frontend.tvmscript.names import PREFIXES, dotted, suggestion
from relax_core.frontend.tvmscript.plain_types import plain_dims
from relax_core.frontend.tvmscript.prim_variables import PrimVariables
from relax_core.frontend.tvmscript.scalars import BINARY, ScalarReader
from relax_core.frontend.tvmscript.scope import (
    Entity,
    Forward,
    ModuleName,
    ModuleScope,
    Poisoned,
    Regional,
    Scope,
)
from relax_core.frontend.tvmscript.types import TypeReader
from relax_core.frontend.tvmscript.values import Items, Literal, TypeValue, Value
from relax_core.ir.expr import Binding, Call, Expr, GlobalVar, If, Op, SeqExpr, TupleGetItem, Var
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.types import TensorType, Type
from relax_core.ops import find
from relax_core.ops.spec import default_expr
from relax_core.source import Span

OPERATORS: Mapping[type[ast.AST], str] = MappingProxyType(
    {
        ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
        ast.Mod: "mod", ast.Pow: "power", ast.MatMult: "matmul", ast.USub: "negative", ast.Not: "logical_not",
        ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
        ast.NotEq: "not_equal", ast.And: "logical_and", ast.Or: "logical_or", ast.BitAnd: "bitwise_and",
        ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor", ast.Invert: "bitwise_not",
    }
)  # fmt: skip
_KnownType: TypeAlias = tuple[Type, tuple[tuple[str, Entity | None], ...]]
"""A type that has been read, and what the names in its words stood for."""
_VALUES = (Expr, PrimExpr)
_LEAST, _LARGEST = -(1 << 63), (1 << 63) - 1
_LITERALS = (bool, int, float, str, type(None))
_NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w=])")
"""What may be names in the words of a type: neither attributes nor keywords."""


@dataclass(slots=True)
class RelaxReader:
    """Reads the expressions of one function in one scope.

    `bindings` takes those that an expression needs before it. `level` counts the functions around this place, and
    `dtypes` holds those that the body declares for its symbolic dimensions. `tuples` are variables known to be tuples,
    `parameters` the parameter types of local functions.
    """

    context: Context
    module: ModuleScope
    scope: Scope
    level: int = 0
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    bindings: list[Binding] = field(default_factory=list[Binding])
    tuples: set[Var] = field(default_factory=set[Var])
    parameters: dict[Var, tuple[Type | None, ...]] = field(default_factory=dict[Var, "tuple[Type | None, ...]"])
    prims: PrimVariables = field(default_factory=PrimVariables)
    known_types: dict[str, "_KnownType"] = field(default_factory=dict[str, "_KnownType"])

    def inner(self) -> "RelaxReader":
        """Return a reader of a list of statements inside this one."""
        return replace(self, scope=self.scope.inner(), bindings=[], prims=self.prims.inner())

    def types(self, *, defines: bool = False) -> TypeReader:
        """Make the reader of types in this scope."""
        return TypeReader(
            self.context, self.scope.find, self.define_symbol, self.undefined, self.lookup, defines, self._scalar_of
        )

    def declared(self, node: ast.expr, *, defines: bool = False) -> Type:
        """Read a declared type; the same words, whose names stand for the same things, give the same type again."""
        plain = self.context.plain.get(node.id) if isinstance(node, ast.Name) else None
        text = plain if plain is not None and self.context.is_ascii else self.context.words(node)
        find = self.scope.find
        if (known := self.known_types.get(text)) is not None:
            for name, entity in known[1]:
                if find(name) is not entity:
                    break
            else:
                return known[0]
        made = self.types(defines=defines).read(node)
        if text:
            names = _NAMES.findall(text) if plain is None else plain_dims(plain)
            self.known_types[text] = made, tuple((name, find(name)) for name in names)
        return made

    def scalars(self) -> ScalarReader:
        """Make the reader of scalar expressions in this scope."""
        return self.types().scalars()

    def _scalar_of(self, value: Expr, node: ast.expr) -> PrimExpr | None:
        """Return the scalar expression that stands for a value; `None` if it is not known to be a host scalar."""
        return self.prims.scalar(value, self.bindings, self.context.span(node))

    def _scalars_of(self, operands: list[tuple[Value, ast.expr]]) -> list[PrimExpr] | None:
        """Return the scalar expressions that stand for all of `operands`; `None` if one is no scalar."""
        if not all(
            to_scalar(value) is not None or (isinstance(value, Expr) and self.prims.is_scalar(value))
            for value, _ in operands
        ):
            return None
        found = (
            self._scalar_of(value, node) if isinstance(value, Expr) else to_scalar(value) for value, node in operands
        )
        return [item for item in found if item is not None]

    def define_symbol(self, name: str, place: Place) -> PrimVar:
        """Define a symbolic dimension; its dtype is int64 unless the body declares another."""
        dtype = self.dtypes.get(name) or self.context.type_vars.get(name, "int64")
        symbol = PrimVar(name, dtype, span=self.context.span(place))
        scope = self.scope.root() if name in self.context.type_vars else self.scope
        scope.define(name, symbol)
        return symbol

    def read(self, node: ast.expr) -> Value:
        """Read an expression as what it is by itself."""
        match node:
            case ast.Name():
                found = self.lookup(node)
                if isinstance(found, _VALUES):
                    return found
                raise self.context.fail("RS004", node, f"`{node.id}` is no value")
            case ast.Call():
                return relax_calls.read_call(self, node)
            case _:
                return self._other(node, self.context.span(node))

    def _other(self, node: ast.expr, span: Span) -> Value:
        match node:
            case ast.Constant(value=value) if isinstance(value, _LITERALS):
                if isinstance(value, int) and not _LEAST <= value <= _LARGEST:
                    raise self.context.fail("PA010", node, "the integer does not fit 64 bits")
                return Literal(value, span)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return Items(tuple(every(self.read, elements)), span)
            case ast.BinOp():
                return self._chain(node)
            case ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                return self._operator(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Lambda():
                return relax_calls.index_map(self, node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                branches = [SeqExpr((), self.expr(item), span=self.context.span(item)) for item in (body, orelse)]
                return If(self.expr(test), branches[0], branches[1], span=span)
            case _:
                raise self.context.unsupported(node, f"`{source_of(node)}` ({type(node).__name__})")

    def expr(self, node: ast.expr, expected: Type | None = None) -> Expr:
        """Read an expression as a node; `expected` decides what a bare literal is."""
        return to_expr(self.context, self.read(node), node, expected)

    def lookup(self, node: ast.Name) -> Entity:
        """Return what a name stands for; raises `Failed` with a diagnostic if that is nothing."""
        found = self.scope.find(node.id)
        match found:
            case None:
                pass
            case Poisoned():
                raise Failed(node.id)
            case Forward(var=var, level=level):
                if self.level > level:
                    return var
                raise self.context.fail(
                    "RS005", node, f"the function `{node.id}` is used before its definition", "move the use behind it"
                )
            case Regional():
                hint = f"add it to R.output(...) of its dataflow block: R.output({node.id})"
                raise self.context.fail("RS001", node, f"`{node.id}` is visible only in its dataflow block", hint)
            case _:
                return found
        if node.id in self.module.functions:
            return self.module.functions[node.id]
        if node.id in self.context.type_vars:
            return self.define_symbol(node.id, node)
        raise self.undefined(node)

    def undefined(self, node: ast.Name) -> Failed:
        """Report that a name is not defined, with the one that may be meant."""
        if node.id in self.module.broken:
            return Failed(node.id)
        hint = suggestion(node.id, [*self.scope.visible(), *self.module.functions])
        return self.context.fail_undefined(node, hint)

    def global_function(self, node: ast.Attribute) -> GlobalVar | None:
        """Return the function that `cls.f` or `Module.f` names, `None` if the base is not the module."""
        if not isinstance(node.value, ast.Name):
            return None
        base = self.scope.find(node.value.id)
        is_module = isinstance(base, ModuleName) or (base is None and node.value.id == self.module.name)
        if not is_module:
            return None
        found = self.module.functions.get(node.attr)
        if found is not None:
            return found
        if node.attr in self.module.broken:
            raise Failed(node.attr)
        hint = suggestion(node.attr, self.module.functions, f"{node.value.id}.")
        raise self.context.fail("RS003", node, f"the module has no function `{node.attr}`", hint)

    def _attribute(self, node: ast.Attribute) -> Value:
        if (found := self.global_function(node)) is not None:
            return found
        if self.types().is_type(node):
            return TypeValue(self.types().read(node), self.context.span(node))
        parts = dotted(node)
        if parts is not None and parts[0] not in PREFIXES and self.scope.find(parts[0]) is None:
            raise self.undefined(ast.copy_location(ast.Name(parts[0], ast.Load()), node))
        raise self.context.unsupported(node, f"`{source_of(node)}` as a value")

    def _subscript(self, node: ast.Subscript) -> Value:
        if self.types().is_type(node):
            return TypeValue(self.types().read(node), self.context.span(node))
        if (found := relax_calls.from_table(self, node)) is not None:
            return found
        match node.slice:
            case ast.Constant(value=int(index)) if not isinstance(index, bool):
                return TupleGetItem(self.expr(node.value), index, span=self.context.span(node))
            case _:
                hint = "a tuple takes a number, t[0]; for a part of a tensor call an operator such as R.strided_slice"
                raise self.context.unsupported(node, f"the subscript `{source_of(node)}`", hint)

    def _chain(self, node: ast.BinOp) -> Value:
        """Read `a + b + c ...` from the left without recursion."""
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        result = self.read(chain[-1].left)
        for item in reversed(chain):
            result = self._binary(item, result, self.read(item.right))
        return result

    def _binary(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        scalars = self._scalars_of([(left, node.left), (right, node.right)])
        if scalars is not None:
            a, b = scalars
            return self.scalars().operation(node, a, b, isinstance(left, Literal), isinstance(right, Literal))
        return self._call(node, type(node.op), [(left, node.left), (right, node.right)])

    def _operator(self, node: ast.UnaryOp | ast.Compare | ast.BoolOp) -> Value:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
                return Literal(-value, self.context.span(node))
            case ast.UnaryOp(op=op, operand=operand):
                value = self.read(operand)
                scalars = self._scalars_of([(value, operand)])
                if scalars is not None:
                    is_bare = isinstance(value, Literal)
                    return self.scalars().read(node) if is_bare else self.scalars().unary(node, scalars[0])
                return value if isinstance(op, ast.UAdd) else self._call(node, type(op), [(value, operand)])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                x, y = self.read(left), self.read(right)
                scalars = self._scalars_of([(x, left), (y, right)])
                if scalars is not None:
                    a, b = scalars
                    return self.scalars().comparison(node, a, b, isinstance(x, Literal), isinstance(y, Literal))
                return self._call(node, type(op), [(x, left), (y, right)])
            case ast.BoolOp(op=op, values=values):
                operands = [(self.read(item), item) for item in values]
                scalars = self._scalars_of(operands)
                if scalars is not None:
                    reader = self.scalars()
                    return reduce(lambda a, b: reader.combine(node, BINARY[type(op)], a, b), scalars)
                result = operands[0][0]
                for operand in operands[1:]:
                    result = self._call(node, type(op), [(result, node), operand])
                return result
            case _:
                raise self.context.unsupported(node, f"the chained comparison `{source_of(node)}`")

    def _call(self, node: ast.expr, operator: type[ast.AST], operands: list[tuple[Value, ast.expr]]) -> Call:
        name = OPERATORS.get(operator)
        if name is None:
            raise self.context.unsupported(node, f"the operator in `{source_of(node)}`")
        args = tuple(to_expr(self.context, value, place, TensorType()) for value, place in operands)
        spec = find(f"relax.{name}")
        defaults = () if spec is None else map(default_expr, spec.params[len(args) :])
        more = tuple(default for default in defaults if default is not None)
        return Call(Op(f"relax.{name}"), (*args, *more), span=self.context.span(node))
