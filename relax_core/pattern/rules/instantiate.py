"""Make the replacement of one match: an expression of the program, read by the reader of TVMScript, and its type."""

import ast
from collections.abc import Mapping
from typing import NoReturn

from relax_core.check.expressions import type_of
from relax_core.check.typing_context import TypingContext
from relax_core.check.unify import is_subtype
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.tvmscript.context import Context, Failed
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.relax.calls import RENAMED
from relax_core.frontend.tvmscript.relax.expr import RelaxExprReader
from relax_core.frontend.tvmscript.relax.op_calls import placed
from relax_core.frontend.tvmscript.scope import ModuleScope, Scope
from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr
from relax_core.ops import find
from relax_core.ops.show import show_type
from relax_core.ops.spec import Param
from relax_core.pattern.rewriting.expression import without_places
from relax_core.pattern.rules.rule import Rule
from relax_core.pattern.rules.split import place_of
from relax_core.pattern.rules.text import CONSTANTS, VALUE_KINDS
from relax_core.pattern.rules.values import Datum, Matched, Names, Unknown, evaluate
from relax_core.source import Span


class Instantiation:
    """Makes the replacement of one rule for one match.

    `names` are the values and sizes that the match gives to names, `given` the arguments that names of attributes
    stand for, and `place` is that of the match in the program.
    """

    def __init__(self, rule: Rule, names: Names, given: Mapping[str, Expr], place: Span | None) -> None:
        self._rule = rule
        self._names = names
        self._given = given
        self._place = place
        self._scope = Scope()
        self._made = 0

    def expression(self, types: dict[Node, Type], expected: Type | None) -> Expr:
        """Return the replacement; `types` takes the types of its parts, and `expected` is that of the match.

        Raises:
            CompileError: it has no type, or not that of the match (RW105), or rests on what is not known (RW106).
        """
        context = Context(self._rule.source)
        for name, value in self._names.items():
            if isinstance(value, Matched):
                self._scope.define(name, value.expr)
        reader = RelaxExprReader(context, ModuleScope("Module", {}), self._scope)
        try:
            made = reader.expr(self._value(self._rule.replacement))
        except Failed:
            raise self._refused(context.diagnostics) from None
        typing = TypingContext({}, type_of=types, fallback=made)
        found = type_of(typing, made)
        if any(item.severity == "error" for item in typing.diagnostics):
            raise self._refused(typing.diagnostics)
        if expected is not None and not _is_taken(found, expected):
            message = f"{self._rule.name} would replace {show_type(expected)} by {show_type(found)}"
            hint = "say behind `where` for which shapes and dtypes it holds"
            self._fail("RW105", message, place_of(self._rule.source, self._rule.replacement), hint)
        return without_places(made, self._rule.source, types)

    def _refused(self, found: list[Diagnostic]) -> CompileError:
        """Tell of the errors of a replacement where they stand in the rule, and for which match."""
        errors = [item for item in found if item.severity == "error"]
        where = self._related()
        return CompileError(
            Diagnostic(item.code, f"{self._rule.name}: {item.message}", item.span, item.hint, related=where)
            for item in errors
        )

    def _related(self) -> tuple[tuple[str, Span], ...]:
        return () if self._place is None else (("the match", self._place),)

    def _fail(self, code: str, message: str, span: Span, hint: str = "") -> NoReturn:
        raise CompileError((Diagnostic(code, message, span, hint, related=self._related()),))

    def _value(self, node: ast.expr) -> ast.expr:
        """Return a replacement with its attributes computed: what is left are names of values, literals and calls."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                made: ast.expr = ast.Tuple([self._value(item) for item in items], ast.Load())
            case ast.Subscript(value=value, slice=index):
                made = ast.Subscript(self._value(value), index, ast.Load())
            case ast.BinOp(left=left, op=op, right=right):
                made = ast.BinOp(self._value(left), op, self._value(right))
            case ast.Call(func=func) if qualified(func, {}) in CONSTANTS:
                named = [ast.keyword(item.arg, self._datum(item.value)) for item in node.keywords]
                made = ast.Call(func, [self._datum(item) for item in node.args], named)
            case ast.Call():
                made = self._call(node)
            case _:
                return node
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _call(self, node: ast.Call) -> ast.expr:
        name = qualified(node.func, {}) or ""
        spec = find(RENAMED.get(name, name))
        assert spec is not None, "the operator was found when the rule was read"
        named = {item.arg or "": item.value for item in node.keywords}
        written, _, _ = placed(spec, node.args, named)
        pairs = [item for item in written if not isinstance(item, Expr)]
        given = [ast.keyword(param.name, self._argument(value, param)) for value, param in pairs]
        return ast.Call(node.func, [], given)

    def _argument(self, node: ast.expr, param: Param) -> ast.expr:
        return self._value(node) if param.kind in VALUE_KINDS else self._datum(node)

    def _datum(self, node: ast.expr) -> ast.expr:
        """Return an attribute as a literal, or as a name for what the match has at its place."""
        if isinstance(node, ast.Name) and node.id in self._given:
            return self._name(self._given[node.id], node)
        value = evaluate(node, self._names)
        missing = _unknown_in(value)
        if missing is not None:
            words = place_of(self._rule.source, node).text
            message = f"{self._rule.name}: `{words}` is not known for this match: {missing.reason}"
            hint = "say behind `where` what must be known, such as x.ndim == 2"
            self._fail("RW106", message, place_of(self._rule.source, node), hint)
        return ast.fix_missing_locations(ast.copy_location(self._literal(value, node), node))

    def _literal(self, value: Datum, node: ast.expr) -> ast.expr:
        match value:
            case tuple(items):
                return ast.Tuple([self._literal(item, node) for item in items], ast.Load())
            case PrimExpr():
                return self._name(value, node)
            case Matched(expr=expr):
                return self._name(expr, node)
            case None | bool() | int() | float() | str():
                return ast.Constant(value)
            case Unknown():
                raise AssertionError("what is not known was refused")

    def _name(self, entity: Expr | PrimExpr, node: ast.expr) -> ast.expr:
        # No name of a rule begins with a digit.
        name = f"0{self._made}"
        self._made += 1
        self._scope.define(name, entity)
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _unknown_in(value: Datum) -> Unknown | None:
    match value:
        case Unknown():
            return value
        case tuple(items):
            return next((found for item in items if (found := _unknown_in(item)) is not None), None)
        case _:
            return None


def _is_taken(given: Type, expected: Type) -> bool:
    """Tell whether a value of type `given` may take the place of one of type `expected`, on the same device."""
    if isinstance(given, TensorType) and isinstance(expected, TensorType) and given.vdevice != expected.vdevice:
        return False
    return is_subtype(given, expected)
