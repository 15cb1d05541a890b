"""Read rewrite rules: `name: pattern -> replacement where condition`, of data that is never executed.

    transposed: R.matmul(x, R.permute_dims(y, axes=[1, 0])) -> R.my(x, y) where x.ndim == 2 and y.dtype == "float32"

Patterns and replacements are calls of operators as a program writes them. A pattern says what an operator is given: a
name stands for any tensor, or for any value of an attribute; an attribute that is left out has its default, `...`
behind the arguments takes any. The grammar is in docs/rules.md.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.tvmscript.names import qualified, suggestion
from relax_core.frontend.tvmscript.relax.calls import RENAMED
from relax_core.frontend.tvmscript.relax.op_calls import placed
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import Expr
from relax_core.ops import ALIASES, OPS, find
from relax_core.ops.signature import schema_text
from relax_core.ops.spec import OpSpec, Param
from relax_core.pattern.language.nodes import (
    OperatorPattern,
    Pattern,
    ScalarPattern,
    TupleGetItemPattern,
    TuplePattern,
    WildcardPattern,
    subpatterns,
)
from relax_core.pattern.language.text import is_text
from relax_core.pattern.matching.facts import literal
from relax_core.pattern.rules.rule import Attribute, Rule, Rules
from relax_core.pattern.rules.split import TEXT_LIMIT, RuleText, parse_part, place_of, split_rules
from relax_core.pattern.rules.values import ARITHMETIC, COMPARISONS, PROPERTIES
from relax_core.source import Source, Span

PART_LIMIT = 200
"""How many parts a pattern, a replacement or a condition may have."""
DEPTH_LIMIT = 40
VALUE_KINDS = ("tensor", "tuple", "expr")
"""Kinds of parameters that take values of the program; the others are attributes."""
SUGAR: Mapping[type[ast.operator], str] = MappingProxyType(
    {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
)
NO_OTHERS: Mapping[str, ast.expr] = MappingProxyType({})


def read_rules(text: str, name: str = "rules") -> Rules:
    """Read a text of rules.

    Raises:
        CompileError: the rules have errors, all of them in the order of the text; RW100 if there is no rule.
    """
    if not is_text(text):
        raise _error("RW100", "the rules hold half of a surrogate pair, which is no character")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
    if len(text) > TEXT_LIMIT:
        raise _error("RW108", f"the rules have more than {TEXT_LIMIT:,} characters", "apply them in several stages")
    source = Source(name, text)
    parts, diagnostics = split_rules(source)
    rules: list[Rule] = []
    for part in parts:
        try:
            rules.append(_RuleReader(source, part).read())
        except CompileError as error:
            diagnostics += error.diagnostics
    diagnostics += _repeated(rules)
    if not rules and not diagnostics:
        raise _error("RW100", "there is no rule", "write one such as `same: R.multiply(x, 1.0) -> x`")
    if diagnostics:
        raise CompileError(sorted(diagnostics, key=lambda item: item.span.start if item.span else 0))
    return Rules(tuple(rules), text)


def _error(code: str, message: str, hint: str = "") -> CompileError:
    return CompileError((Diagnostic(code, message, hint=hint),))


def _repeated(rules: Sequence[Rule]) -> list[Diagnostic]:
    seen: set[str] = set()
    found: list[Diagnostic] = []
    for rule in rules:
        if rule.name in seen:
            found.append(Diagnostic("RW110", f"there are two rules {rule.name}", rule.span, "give one another name"))
        seen.add(rule.name)
    return found


class _RuleReader:
    """Reads one rule; `values` and `attributes` are the names that its pattern binds."""

    def __init__(self, source: Source, text: RuleText) -> None:
        self._source = source
        self._text = text
        self._values: dict[str, Pattern] = {}
        self._attributes: dict[str, list[Attribute]] = {}
        self._span_of: dict[Pattern, Span] = {}
        self._part_count = 0
        self._depth = 0

    def read(self) -> Rule:
        text = self._text
        pattern = self._pattern(self._limited(text.pattern))
        root = pattern
        while isinstance(root, TupleGetItemPattern):
            root = root.tuple_value
        if not isinstance(root, OperatorPattern):
            message = "a pattern is a call of an operator, such as R.add(x, y)"
            self._fail_at("RW101", message, text.pattern, "a name alone would match everything")
        conditions = _conjuncts(self._limited(text.condition)) if text.condition is not None else ()
        known = {*self._values, *self._attributes}
        for item in conditions:
            known |= bound_by(item, known)
            self._condition(item, known)
        replacement = self._limited(text.replacement)
        self._replacement(replacement, known)
        attributes = {name: tuple(places) for name, places in self._attributes.items()}
        span_of = {part: self._span_of.get(part, text.pattern) for part in subpatterns(pattern)}
        return Rule(
            text.name, root.name, pattern, dict(self._values), attributes, conditions, replacement, span_of, text.whole
        )

    def _limited(self, span: Span) -> ast.expr:
        """Parse a part of the rule that is neither too long nor nested too deeply to be walked."""
        tree = parse_part(span)
        count = 0
        stack: list[tuple[ast.AST, int]] = [(tree, 1)]
        while stack:
            node, depth = stack.pop()
            count += isinstance(node, ast.expr)
            if depth > DEPTH_LIMIT:
                self._fail_at("RW108", f"this part of the rule is nested deeper than {DEPTH_LIMIT}", span)
            stack += [(item, depth + isinstance(item, ast.expr)) for item in ast.iter_child_nodes(node)]
        if count > PART_LIMIT:
            self._fail_at(
                "RW108", f"this part of the rule has more than {PART_LIMIT} parts", span, "write several rules"
            )
        return tree

    def _fail(self, code: str, message: str, node: ast.AST, hint: str = "") -> NoReturn:
        self._fail_at(code, message, place_of(self._source, node), hint)

    def _fail_at(self, code: str, message: str, span: Span, hint: str = "") -> NoReturn:
        raise CompileError((Diagnostic(code, message, span, hint),))

    def _words(self, node: ast.AST) -> str:
        text = " ".join(place_of(self._source, node).text.split())
        return text if len(text) <= 60 else f"{text[:59]}…"

    # Patterns

    def _pattern(self, node: ast.expr) -> Pattern:
        match node:
            case ast.Name(id=name):
                made = self._named(name, node)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                made = self._pattern(value)
                if name in self._values or name in self._attributes:
                    self._fail("RW103", f"`{name}` stands for something else already", node, "take another name")
                self._values[name] = made
            case ast.Tuple(elts=items) | ast.List(elts=items):
                made = TuplePattern(tuple(map(self._pattern, items)))
            case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if not isinstance(index, bool):
                made = TupleGetItemPattern(self._pattern(value), index)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in SUGAR:
                made = OperatorPattern(f"relax.{SUGAR[type(op)]}", (self._pattern(left), self._pattern(right)), (0, 1))
            case ast.Call():
                made = self._call(node)
            case _ if (number := _number(node)) is not None:
                made = ScalarPattern(number)
            case _:
                hint = "a pattern is made of calls of operators, names, numbers and tuples"
                self._fail("RW101", f"`{self._words(node)}` cannot stand in a pattern", node, hint)
        self._span_of.setdefault(made, place_of(self._source, node))
        return made

    def _named(self, name: str, node: ast.AST) -> Pattern:
        if name == "_":
            return WildcardPattern()
        if name in self._attributes:
            self._fail("RW103", f"`{name}` stands for an attribute, and for a value here", node, "take another name")
        return self._values.setdefault(name, WildcardPattern())

    def _call(self, node: ast.Call) -> Pattern:
        spec = self._spec(node)
        is_open = bool(node.args) and _is_ellipsis(node.args[-1])
        given = node.args[:-1] if is_open else node.args
        written = self._placed(node, spec, given, _any_other(node, spec, len(given)) if is_open else {})
        parts: list[Pattern] = []
        places: list[int] = []
        attrs: list[tuple[int, str, AttrValue]] = []
        captures: list[tuple[str, int, ast.Name]] = []
        for place, (item, param) in enumerate(zip(written, spec.params, strict=True)):
            match item:
                case Expr():
                    if not is_open:
                        attrs.append((place, param.name, _value_of(item)))
                case ast.Name(id=name) if param.kind not in VALUE_KINDS:
                    captures.append((name, place, item))
                case ast.expr() if param.kind in VALUE_KINDS and not _is_none(item):
                    parts.append(self._pattern(item))
                    places.append(place)
                case ast.expr():
                    attrs.append((place, param.name, self._literal(item, param)))
        made = OperatorPattern(spec.name, tuple(parts), tuple(places), tuple(attrs))
        for name, place, item in captures:
            if name == "_":
                continue
            if name in self._values:
                self._fail(
                    "RW103", f"`{name}` stands for a value, and for an attribute here", item, "take another name"
                )
            self._attributes.setdefault(name, []).append(Attribute(made, place, spec.params[place].name))
        return made

    def _literal(self, node: ast.expr, param: Param) -> AttrValue:
        try:
            value: object = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            hint = f"let a name stand for it, {param.name}={param.name[:1] or 'a'}, and say more behind `where`"
            self._fail("RW101", f"`{self._words(node)}` is no literal", node, hint)
        made = _attribute_of(value)
        if made is None:
            self._fail("RW101", f"`{self._words(node)}` is no value of an attribute", node)
        is_list = param.kind in ("axes", "shape") and not isinstance(made[0], tuple | None)
        return made if is_list else made[0]

    # Operators

    def _spec(self, node: ast.Call) -> OpSpec:
        name = qualified(node.func, {}) or ""
        name = RENAMED.get(name, name)
        spec = find(name)
        if spec is None:
            names = (item.removeprefix("relax.") for item in (*OPS, *ALIASES))
            short = name.removeprefix("relax.")
            hint = suggestion(short, names, "R.") or "operators are called through R, such as R.add(x, y)"
            self._fail("RW101", f"there is no operator `{self._words(node.func)}`", node.func, hint)
        if not spec.is_pure:
            hint = "a rule may only move and drop what has no effect"
            self._fail("RW104", f"R.{spec.short_name} has an effect and cannot stand in a rule", node.func, hint)
        if spec.takes_type_args or any(item.kind == "func" or item.is_variadic for item in spec.params):
            hint = "write a pass in Python for it"
            self._fail("RW104", f"R.{spec.short_name} takes a function and cannot stand in a rule", node.func, hint)
        return spec

    def _placed(
        self, node: ast.Call, spec: OpSpec, positional: Sequence[ast.expr], others: Mapping[str, ast.expr] = NO_OTHERS
    ) -> list[ast.expr | Expr]:
        """Return what is given for each parameter, in their order: a default is an expression of the program.

        `others` are given for parameters that the text leaves out.
        """
        hint = f"the schema: {schema_text(spec)}"
        named = dict(others)
        for item in node.keywords:
            if item.arg is None or item.arg in named:
                self._fail("RW102", "an argument is given twice, or unpacked", item.value, hint)
            named[item.arg] = item.value
        for item in (*positional, *named.values()):
            if isinstance(item, ast.Starred) or _is_ellipsis(item):
                self._fail("RW102", "`...` stands behind the other arguments, and nothing is unpacked", item, hint)
        written, lacking, count = placed(spec, positional, named)
        if lacking is not None:
            self._fail("RW102", f"R.{spec.short_name} lacks its argument `{lacking.name}`", node, hint)
        if count < len(positional) + len(named):
            surplus = next((name for name in named if name not in {item.name for item in spec.params}), "")
            words = f"has no argument `{surplus}`" if surplus else "is given too many arguments"
            self._fail("RW102", f"R.{spec.short_name} {words}", node, hint)
        return [item if isinstance(item, Expr) else item[0] for item in written]

    # Replacements

    def _replacement(self, node: ast.expr, known: set[str]) -> None:
        """Check the form of a replacement, as far as it depends on no match."""
        match node:
            case ast.Name(id=name):
                if name not in self._values:
                    self._unbound(name, node, known, "a value")
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._replacement(item, known)
            case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if not isinstance(index, bool):
                self._replacement(value, known)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in SUGAR:
                self._replacement(left, known)
                self._replacement(right, known)
            case ast.Call(func=func) if qualified(func, {}) in CONSTANTS:
                for item in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self._condition(item, known)
            case ast.Call():
                self._replacing_call(node, known)
            case _ if _number(node) is not None:
                pass
            case _:
                hint = "a replacement is made of calls of operators, names of the pattern, R.const and tuples"
                self._fail("RW101", f"`{self._words(node)}` cannot stand in a replacement", node, hint)

    def _replacing_call(self, node: ast.Call, known: set[str]) -> None:
        spec = self._spec(node)
        for item, param in zip(self._placed(node, spec, node.args), spec.params, strict=True):
            if isinstance(item, Expr) or _is_none(item):
                continue
            if param.kind in VALUE_KINDS:
                self._replacement(item, known)
            else:
                self._condition(item, known)

    def _unbound(self, name: str, node: ast.AST, known: set[str], what: str) -> NoReturn:
        if name in known:
            self._fail("RW103", f"`{name}` stands for an attribute or a size, which is not {what}", node)
        hint = suggestion(name, known) or (f"the pattern binds {', '.join(sorted(known))}" if known else "")
        self._fail("RW103", f"`{name}` is not bound by the pattern", node, hint)

    # Conditions

    def _condition(self, node: ast.expr, known: set[str]) -> None:
        """Check the form of a condition, or of an attribute of the replacement."""
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str()):
                parts: Sequence[ast.expr] = ()
            case ast.Name(id=name):
                if name not in known:
                    self._unbound(name, node, known, "a value")
                parts = ()
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
                pass
            case ast.Attribute(value=value, attr=attr):
                if attr not in PROPERTIES:
                    hint = suggestion(attr, PROPERTIES) or f"a condition asks for {', '.join(PROPERTIES)}"
                    self._fail("RW101", f"a tensor has no `{attr}` here", node, hint)
                parts = (value,)
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                parts = [item for item in (value, lower, upper) if item is not None]
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                parts = (value, index)
            case ast.Call(func=ast.Name(id="len"), args=[item], keywords=[]):
                parts = (item,)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ARITHMETIC):
                parts = (left, right)
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                parts = (operand,)
            case ast.Compare(left=left, ops=ops, comparators=rest) if all(isinstance(op, COMPARISONS) for op in ops):
                parts = (left, *rest)
            case _:
                hint = "conditions compare shapes, dtypes, attributes and numbers; the grammar is in docs/rules.md"
                self._fail("RW101", f"`{self._words(node)}` cannot stand here", node, hint)
        for item in parts:
            self._condition(item, known)


def _any_other(node: ast.Call, spec: OpSpec, count: int) -> dict[str, ast.expr]:
    """Return `_` for each parameter that has to be given and is not, which `...` stands for."""
    by_place = [param.name for param in spec.params if not param.is_keyword][:count]
    given = {*by_place, *(item.arg for item in node.keywords)}
    missing = (param.name for param in spec.params if param.is_required and param.name not in given)
    return {name: ast.copy_location(ast.Name("_", ast.Load()), node.args[-1]) for name in missing}


CONSTANTS = ("relax.const", "relax.shape", "relax.prim_value", "relax.str", "relax.dtype")
"""Calls that make literals, whose arguments are computed as those of a condition."""


def _conjuncts(node: ast.expr) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return tuple(part for item in node.values for part in _conjuncts(item))
    return (node,)


def bound_by(node: ast.expr, known: Collection[str]) -> frozenset[str]:
    """Return the new names that `x.shape == (n, k)` or `x.shape[0] == n` gives to sizes."""
    match node:
        case ast.Compare(
            left=ast.Subscript(value=ast.Attribute(attr="shape")), ops=[ast.Eq()], comparators=[ast.Name(id=name)]
        ):
            names = {name}
        case ast.Compare(
            left=ast.Attribute(attr="shape"), ops=[ast.Eq()], comparators=[ast.Tuple(elts=items) | ast.List(elts=items)]
        ):
            names = {item.id for item in items if isinstance(item, ast.Name)}
        case _:
            names = set[str]()
    return frozenset(names.difference(known))


def _number(node: ast.expr) -> bool | int | float | None:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None if isinstance(value, bool) else -value
        case _:
            return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _value_of(default: Expr) -> AttrValue:
    found = literal(default)
    assert found is not None, "a default is a literal"
    return found[0]


def _attribute_of(value: object) -> tuple[AttrValue] | None:
    """Return a literal of Python as an attribute, in a tuple of one; `None` if it is none."""
    match value:
        case None | bool() | int() | float() | str():
            return (value,)
        case tuple() | list():
            items = [_attribute_of(item) for item in cast("tuple[object, ...]", value)]
            known = [item for item in items if item is not None]
            return (tuple(item[0] for item in known),) if len(known) == len(items) else None
        case _:
            return None
