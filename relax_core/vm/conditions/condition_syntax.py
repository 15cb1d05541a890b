"""The language of conditions of breakpoints: from text to a tree. Nothing in it calls the program or the host.

Literals, variables and registers (`%3`) of the running function, arithmetic, comparisons that chain, `and`, `or`,
`not`, fields such as `x.shape`, items such as `x.shape[0]` and `pair[1]`, tuples and functions of values, which may
stand behind their argument: `x.sum()`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, NoReturn, TypeAlias

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.source import Source, Span

MAX_LENGTH: Final = 400
_MAX_DEPTH: Final = 40
_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN = range(1, 8)
_BINDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "or": _OR,
        "and": _AND,
        **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARE),
        **dict.fromkeys(("+", "-"), _SUM),
        **dict.fromkeys(("*", "/", "//", "%"), _PRODUCT),
    }
)
_CONSTANTS: Final[Mapping[str, bool | None]] = MappingProxyType(
    {"True": True, "true": True, "False": False, "false": False, "None": None}
)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<string>\"[^\"]*\"|'[^']*')|(?P<sign>==|!=|<=|>=|//|[<>+\-*/%()\[\].,])|(?P<end>\Z))"
)
_CONDITION: Final = "condition"
_HINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        _CONDITION: 'a condition is such as `i > 3 and x.shape[0] == m`, `isnan(v)` or `%2 == "done"`',
        "change": "a change is such as `x = 0.5`, `x[0, 1] = nan`, `%3 = y * 2` or `x = zeros()`",
    }
)


@dataclass(frozen=True, slots=True)
class Number:
    """A literal: a number, a text, a truth value or `None`."""

    value: bool | int | float | str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A variable of the function that runs, or a symbolic dimension of its types."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterName:
    """A register of the function that runs, such as `%3`."""

    index: int
    span: Span


@dataclass(frozen=True, slots=True)
class Prefix:
    """`-x` or `not x`."""

    op: Literal["-", "not"]
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Infix:
    """An arithmetic or logical operator between two operands."""

    op: str
    left: "Expression"
    right: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain such as `0 < i <= n`: one operator between each two operands."""

    operands: "tuple[Expression, ...]"
    ops: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FieldOf:
    """`x.shape`."""

    base: "Expression"
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class ItemOf:
    """`x[0]` or `x[i, j]`."""

    base: "Expression"
    indices: "tuple[Expression, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Row:
    """`(2, 3)`."""

    items: "tuple[Expression, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of values, such as `isnan(x)`."""

    function: str
    args: "tuple[Expression, ...]"
    span: Span


Expression: TypeAlias = Number | Name | RegisterName | Prefix | Infix | Comparison | FieldOf | ItemOf | Row | Apply


class _Token(NamedTuple):
    kind: Literal["number", "name", "string", "sign", "register", "end"]
    text: str
    span: Span


def parse_condition(text: str) -> Expression:
    """Return the tree of a condition.

    Raises:
        CompileError: VM030 at the first place that is not understood.
    """
    return parse_expression(Source(_CONDITION, text))


def parse_expression(source: Source) -> Expression:
    """Return the tree of an expression in the language of conditions; messages call it as the source is named.

    Raises:
        CompileError: VM030 at the first place that is not understood.
    """
    text, what = source.text, source.name
    if len(text) > MAX_LENGTH:
        whole = Span(source, MAX_LENGTH, len(text))
        _refuse(f"a {what} has at most {MAX_LENGTH} characters, this one has {len(text)}", whole)
    return _Parser(tuple(_tokens(source))).whole()


def _refuse(message: str, span: Span, hint: str = "") -> NoReturn:
    raise CompileError((Diagnostic("VM030", message, span, hint or _HINTS.get(span.source.name, "")),))


def _tokens(source: Source) -> Iterator[_Token]:
    at = 0
    is_operand = False
    while True:
        found = _TOKEN.match(source.text, at)
        if found is None:
            start = at + len(source.text[at:]) - len(source.text[at:].lstrip())
            span = Span(source, start, start + 1)
            hint = "`==` compares" if span.text == "=" else ""
            _refuse(f"`{span.text}` has no meaning in a {source.name}", span, hint)
        kind = found.lastgroup
        assert kind in ("number", "name", "string", "sign", "end")
        token = _Token(kind, found.group(kind), Span(source, *found.span(kind)))
        register = re.compile(r"\d+").match(source.text, found.end())
        if token.text == "%" and not is_operand and register is not None:
            # Behind an operand `%` is the remainder; elsewhere it begins the name of a register.
            token = _Token("register", register.group(), Span(source, token.span.start, register.end()))
        yield token
        if kind == "end":
            return
        at = token.span.end
        is_operand = token.kind in ("number", "string", "register") or token.text in (")", "]")
        is_operand = is_operand or (token.kind == "name" and token.text not in ("and", "or", "not"))


class _Parser:
    """Precedence climbing over the tokens of one condition."""

    def __init__(self, tokens: tuple[_Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Expression:
        """Parse all of it."""
        found = self._expression(_OR)
        if self._next.kind != "end":
            _refuse(f"an operator is expected before `{self._next.text}`", self._next.span)
        return found

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _expression(self, least: int) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            _refuse(f"a {self._next.span.source.name} is nested at most {_MAX_DEPTH} deep", self._next.span)
        left = self._prefix()
        while (binds := self._binding()) >= least:
            left = self._comparison(left) if binds == _COMPARE else self._infix(left, binds)
        self._depth -= 1
        return left

    def _binding(self) -> int:
        token = self._next
        return _BINDS.get(token.text, 0) if token.kind in ("sign", "name") else 0

    def _infix(self, left: Expression, binds: int) -> Expression:
        op = self._take().text
        right = self._expression(binds + 1)
        return Infix(op, left, right, left.span.to(right.span))

    def _comparison(self, first: Expression) -> Expression:
        operands, ops = [first], list[str]()
        while self._binding() == _COMPARE:
            ops.append(self._take().text)
            operands.append(self._expression(_COMPARE + 1))
        return Comparison(tuple(operands), tuple(ops), first.span.to(operands[-1].span))

    def _prefix(self) -> Expression:
        token = self._next
        match token.text:
            case "-" if token.kind == "sign":
                self._take()
                operand = self._expression(_SIGN)
                return Prefix("-", operand, token.span.to(operand.span))
            case "not" if token.kind == "name":
                self._take()
                operand = self._expression(_NOT)
                return Prefix("not", operand, token.span.to(operand.span))
            case _:
                return self._postfix(self._primary())

    def _postfix(self, base: Expression) -> Expression:
        while self._next.kind == "sign" and self._next.text in (".", "["):
            if self._take().text == ".":
                name = self._take()
                if name.kind != "name":
                    _refuse("a field is named after `.`, such as `x.shape`", name.span)
                base = self._member(base, name)
            else:
                indices, end = self._list("]")
                base = ItemOf(base, indices, base.span.to(end))
        return base

    def _member(self, base: Expression, name: _Token) -> Expression:
        """Parse a field, or a function of values that is written behind its argument: `x.sum()` is `sum(x)`."""
        if self._next.kind != "sign" or self._next.text != "(":
            return FieldOf(base, name.text, base.span.to(name.span))
        self._take()
        args, end = self._list(")")
        return Apply(name.text, (base, *args), base.span.to(end))

    def _primary(self) -> Expression:
        token = self._take()
        match token.kind:
            case "number":
                is_whole = token.text.isdecimal()
                return Number(int(token.text) if is_whole else float(token.text), token.span)
            case "string":
                return Number(token.text[1:-1], token.span)
            case "register":
                return RegisterName(int(token.text), token.span)
            case "name" if token.text in _CONSTANTS:
                return Number(_CONSTANTS[token.text], token.span)
            case "name" if token.text not in _BINDS:
                return self._named(token)
            case "sign" if token.text == "(":
                return self._grouped(token)
            case _:
                found = f"before `{token.text}`" if token.text else "at the end"
                _refuse(f"a value is expected {found}", token.span)

    def _named(self, token: _Token) -> Expression:
        if self._next.kind != "sign" or self._next.text != "(":
            return Name(token.text, token.span)
        self._take()
        args, end = self._list(")")
        return Apply(token.text, args, token.span.to(end))

    def _grouped(self, opening: _Token) -> Expression:
        start = self._at
        items, end = self._list(")")
        is_row = len(items) != 1 or any(
            token.text == "," and token.span.end > items[0].span.end for token in self._tokens[start : self._at]
        )
        return Row(items, opening.span.to(end)) if is_row else items[0]

    def _list(self, closing: str) -> tuple[tuple[Expression, ...], Span]:
        items: list[Expression] = []
        while self._next.text != closing or self._next.kind != "sign":
            items.append(self._expression(_OR))
            if self._next.text != ",":
                break
            self._take()
        token = self._take()
        if token.text != closing:
            found = f"before `{token.text}`" if token.text else "at the end"
            _refuse(f"`{closing}` is expected {found}", token.span)
        return tuple(items), token.span
