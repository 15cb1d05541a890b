"""Read expressions: atoms, calls, projections and operators."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from relax_core.frontend.relay.compounds import CompoundReader
from relax_core.frontend.relay.lexer.tokens import Tokens
from relax_core.frontend.relay.report import Report
from relax_core.frontend.relay.scope import Library, ModuleNames, Notes
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.expr import Call, Constant, Expr, GlobalVar, Op, Tuple, TupleGetItem, Var
from relax_core.ir.relay import Constructor, RefCreate, RefRead, RefWrite

_OPERATORS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "*": (12, "multiply"),
        "/": (12, "divide"),
        "+": (10, "add"),
        "-": (10, "subtract"),
        "<": (8, "less"),
        "<=": (8, "less_equal"),
        ">": (8, "greater"),
        ">=": (8, "greater_equal"),
        "==": (7, "equal"),
        "!=": (7, "not_equal"),
    }
)


_COMPILER_MARKS = ("annotation.compiler_begin", "annotation.compiler_end")


class ExpressionReader(CompoundReader):
    """Reads expressions, in the scopes that `Resolver` keeps."""

    def __init__(self, tokens: Tokens, report: Report, names: ModuleNames, library: Library, notes: Notes) -> None:
        CompoundReader.__init__(self, tokens, report, names, library, notes)
        self._atoms: Mapping[str, Callable[[], Expr]] = {
            "local": self.local,
            "graph": self.graph,
            "ident": self.named,
            "number": self.number,
            "inf": self.number,
            "-": self._negative,
            "global": self.global_,
            "True": self.truth,
            "False": self.truth,
            "fn": self.fn,
            "if": self.if_,
            "match": self.match,
            "match?": self.match,
            "(": self.parenthesis,
            "{": self.block,
            "[": self._tensor_literal,
            "meta": self.meta_constant,
            "ref": self._ref_create,
            "ref_read": self._ref_read,
            "ref_write": self._ref_write,
        }

    def item(self) -> Expr:
        """Read an expression that is not a sequence."""
        self.deeper()
        start = self.position
        left = self.operand()
        if self.kinds[self.position] in _OPERATORS:
            left = self._binary(left, start, 0)
        self.depth -= 1
        return left

    def _binary(self, left: Expr, start: int, least: int) -> Expr:
        """Read operators that bind tighter than `least`, and their right sides."""
        while True:
            at = self.position
            precedence, name = _OPERATORS.get(self.kinds[at], (0, ""))
            if precedence <= least:
                return left
            self.position = at + 1
            right_start = self.position
            right = self.operand()
            following, _ = _OPERATORS.get(self.kinds[self.position], (0, ""))
            if following > precedence:
                right = self._binary(right, right_start, precedence)
            left = Call(Op(name, span=self.tokens.span(at)), (left, right), span=self.span_from(start))

    def operand(self) -> Expr:
        """Read an atom with the calls and projections behind it."""
        start = self.position
        node = self.atom()
        if node is None:
            hint = "put { } around a `let` that is a part of something" if self.kinds[start] == "let" else ""
            raise self.unexpected("an expression", hint)
        comments = self.tokens.type_comments
        while True:
            kind = self.kinds[self.position]
            if self.position in comments:
                self.note_type(node)
            if kind == "(":
                node = self._call(node, start)
            elif kind == "project":
                index = int(self.texts[self.position][1:][:18])
                self.position += 1
                node = TupleGetItem(node, index, span=self.span_from(start))
            elif kind == "[" and isinstance(node, GlobalVar | Var | Constructor | Call):
                node = self._instantiated(node, start)
            elif kind == "^":
                # Version 0.0.4 writes `%r^` for `ref_read(%r)`, and `%r := %x` for `ref_write(%r, %x)`.
                self.position += 1
                node = RefRead(node, span=self.span_from(start))
            elif kind == "mark":
                self.notes.marks[node] = self.texts[self.position]
                self.position += 1
            else:
                return node

    def atom(self) -> Expr | None:
        """Read an expression without the calls behind it; `None` if none starts here."""
        read = self._atoms.get(self.kinds[self.position])
        return None if read is None else read()

    def _call(self, callee: Expr, start: int) -> Call:
        self.position += 1
        args: list[Expr] = []
        attrs: Attrs = NO_ATTRS
        while (kind := self.kinds[self.position]) != ")":
            if self.kinds[self.position + 1] == "=" and self.at_attribute():
                attrs = self.attributes(")")
                break
            if kind == "meta" and not self.texts[self.position].startswith("meta[relay.Constant]"):
                attrs = self.attributes(")")
                break
            is_last = self.kinds[self.position + 1] == ")"
            if kind == "ident" and args and is_last and isinstance(callee, Op) and callee.name in _COMPILER_MARKS:
                attrs = self._bare_compiler()
                break
            args.append(self._part())
            if not self.accept(","):
                break
        if self.kinds[self.position] != ")":
            raise self.unexpected("`,` or `)` in the arguments")
        self.position += 1
        if attrs and isinstance(callee, Op):
            self.check_attributes(callee.name, attrs, start)
        return Call(callee, tuple(args), attrs, span=self.span_from(start))

    def _instantiated(self, callee: Expr, start: int) -> Call:
        """Read `[int32](%x)` behind a callee: the types that its type parameters stand for, and the call."""
        at = self.position
        types = self.type_arguments()
        self.note_spelling(at, "type arguments stand in no text of TVM, which infers them; they are kept and checked")
        match callee:
            case Call(op=Constructor(field_types=()), args=()) if self.kinds[self.position] != "(":
                return replace(callee, type_args=types, span=self.span_from(start))
            case Call(op=Constructor(field_types=()) as constructor, args=()):
                callee = constructor
            case _ if self.kinds[self.position] != "(":
                raise self.unexpected("`(` behind type arguments")
            case _:
                pass
        return replace(self._call(callee, start), type_args=types)

    def _bare_compiler(self) -> Attrs:
        """Read `default` in `compiler_begin(%x, default)`, as people write it in a discussion."""
        at = self.position
        name = self.texts[at]
        self.position += 1
        self.note_spelling(at, f'`{name}` is read as `compiler="{name}"`')
        return (("compiler", name),)

    def _part(self) -> Expr:
        """Read an expression inside of brackets: it may be a sequence."""
        start = self.position
        kind = self.kinds[start]
        if kind == "let" or (kind in ("graph", "local") and self.kinds[start + 1] == "="):
            return self._inner_sequence(None, start)
        first = self.item()
        if self.accept(":="):
            first = RefWrite(first, self.item(), span=self.span_from(start))
        return self._inner_sequence(first, start) if self.kinds[self.position] == ";" else first

    def _inner_sequence(self, first: Expr | None, start: int) -> Expr:
        if not self.is_closed():
            raise self.unexpected("`,` or `)`")
        self.deeper()
        scope = self.enter()
        value = self.sequence(first, start)
        self.leave(scope)
        self.depth -= 1
        return value

    def parenthesis(self) -> Expr:
        start = self.position
        self.position += 1
        fields: list[Expr] = []
        has_comma = False
        while self.kinds[self.position] != ")":
            fields.append(self._part())
            has_comma = self.accept(",")
            if not has_comma:
                break
        if self.kinds[self.position] != ")":
            raise self.unexpected("`,` or `)`")
        self.position += 1
        if len(fields) == 1 and not has_comma:
            return fields[0]
        return Tuple(tuple(fields), span=self.span_from(start))

    def _negative(self) -> Expr:
        """Read minus signs before a number, or before something to negate."""
        first = self.position
        count = 0
        while self.accept("-"):
            count += 1
        if self.kinds[self.position] in ("number", "inf"):
            return self.signed_number(first, "-" * (count % 2))
        value = self.operand()
        if count % 2:
            value = Call(Op("negative", span=self.tokens.span(first)), (value,), span=self.span_from(first))
        return value

    def _tensor_literal(self) -> Expr:
        """Read `[1, 2]`, a tensor of version 0.0.4."""
        start = self.position
        value = self.attribute_value()
        try:
            data = np.array(value)
        except ValueError:
            data = np.array(None)
        if data.dtype.kind not in "iufb":
            raise self.fail("RL001", self.span_from(start), "a tensor is written as nested lists of numbers")
        data = data.astype({"i": "int32", "u": "int64", "f": "float32", "b": "bool"}[data.dtype.kind])
        data.flags.writeable = False
        return Constant(data, span=self.span_from(start))

    def _ref_create(self) -> Expr:
        start = self.position
        (value,) = self._operands(1)
        return RefCreate(value, span=self.span_from(start))

    def _ref_read(self) -> Expr:
        start = self.position
        (ref,) = self._operands(1)
        return RefRead(ref, span=self.span_from(start))

    def _ref_write(self) -> Expr:
        start = self.position
        ref, value = self._operands(2)
        return RefWrite(ref, value, span=self.span_from(start))

    def _operands(self, count: int) -> list[Expr]:
        """Read the arguments of a keyword that is called."""
        name = self.texts[self.position]
        at = self.position
        self.position += 1
        self.expect("(")
        found: list[Expr] = []
        while self.kinds[self.position] != ")":
            found.append(self._part())
            if not self.accept(","):
                break
        self.expect(")")
        if len(found) != count:
            wanted = "one argument" if count == 1 else f"{count} arguments"
            raise self.fail("RL001", at, f"`{name}` takes {wanted}, got {len(found)}")
        return found
