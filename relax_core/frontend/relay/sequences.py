"""Read sequences: lets, graph variables and a value. They are read in a loop, so they may be of any length."""

from abc import ABC, abstractmethod

from relax_core.frontend.relay.lexer.tokens import END, Tokens
from relax_core.frontend.relay.report import RelayFailed, Report
from relax_core.frontend.relay.resolve import Resolver
from relax_core.frontend.relay.scope import Library, ModuleNames, Notes
from relax_core.ir.attrs import NO_ATTRS, Attrs, AttrValue, attrs_of
from relax_core.ir.expr import Expr, Tuple, Var
from relax_core.ir.relay import Let
from relax_core.source import Span

_ENDS = frozenset(("}", ")", "]", ",", END, "def"))
_BINDINGS = frozenset(("let", "graph", "local", "free_var", "elision"))
_DEVICE = "virtual_device"


class SequenceReader(Resolver, ABC):
    """Reads blocks and sequences, and recovers at the next statement after an error."""

    def __init__(self, tokens: Tokens, report: Report, names: ModuleNames, library: Library, notes: Notes) -> None:
        Resolver.__init__(self, tokens, report, names, library, notes)
        # A text that is one expression may end without a value; its last binding is the value.
        self.may_lack_value = False
        self.attrs_of_let: dict[Var, Attrs] = {}

    @abstractmethod
    def item(self) -> Expr:
        """Read an expression that is not a sequence."""

    def block(self) -> Expr:
        """Read `{ ... }`. A block with errors is read to its end and has a placeholder as value."""
        self.expect("{")
        scope = self.enter()
        may_lack_value, self.may_lack_value = self.may_lack_value, False
        value = self.sequence()
        self.may_lack_value = may_lack_value
        self.leave(scope)
        self.expect("}", " at the end of the block")
        return value

    def sequence(self, first: Expr | None = None, start: int | None = None) -> Expr:
        """Read `let`s, graph variables and a value. The `first` item may have been read, from token `start` on."""
        lets: list[tuple[Var, Expr, int]] = []
        last: Expr | None = None
        depth = self.depth
        while True:
            start = self.position if start is None else start
            scope = self.enter()
            try:
                last, is_last = self._statement(first, start, lets, last)
                if is_last:
                    break
            except RelayFailed:
                self.depth, self.part_depth = depth, 0
                self.leave(scope)
                self._define_broken(start)
                last = self.placeholder()
                if not self.skip_statement(start):
                    break
            first = start = None
        return self._folded(lets, last)

    def _statement(
        self, first: Expr | None, start: int, lets: list[tuple[Var, Expr, int]], last: Expr | None
    ) -> tuple[Expr | None, bool]:
        """Read one statement with its `;`; returns the value so far, and whether the sequence has ended."""
        kind = self.kinds[self.position]
        if first is not None or kind not in _BINDINGS:
            if first is None and kind in _ENDS:
                return self._missing_value(last), True
            return self._value_statement(self.item() if first is None else first, start, lets)
        match kind:
            case "let":
                var, value = self._let()
                lets.append((var, value, start))
                last = var
            case "graph" if self.kinds[start + 1] == "=":
                last = self._bind_graph()
            case "local" if self.kinds[start + 1] == "=":
                var, value = self._let_without_word()
                lets.append((var, value, start))
                last = var
            case "graph" | "local":
                return self._value_statement(self.item(), start, lets)
            case "free_var":
                last = self._free_var() or last
            case _:
                self.skip_elision()
                return last, False
        if self.kinds[self.position] == "ident" and self.texts[self.position] == "in" and kind == "let":
            self.note_spelling(self.position, "`in` is read as `;`")
            self.position += 1
        elif self.kinds[self.position] not in _ENDS or not self.may_lack_value:
            self.expect(";", " behind the binding")
        return last, False

    def _value_statement(self, value: Expr, start: int, lets: list[tuple[Var, Expr, int]]) -> tuple[Expr | None, bool]:
        if not self.accept(";"):
            return value, True
        if self.kinds[self.position] not in _ENDS:
            lets.append((Var("_", span=value.span), value, start))
        return value, False

    def _missing_value(self, last: Expr | None) -> Expr:
        if not self.may_lack_value or last is None:
            hint = "a block ends with its value" if last is not None else ""
            self.is_broken = True
            raise self.unexpected("an expression", hint)
        return last

    def _define_broken(self, start: int) -> None:
        """Define the names that an erroneous statement would have defined, so that their uses are not errors."""
        self.is_broken = True
        kind, text = self.kinds[start], self.texts[start]
        if kind == "let" and self.kinds[start + 1] == "local":
            self.locals.define(self.texts[start + 1], Var("_"))
        elif kind == "let" and self.kinds[start + 1] == "graph":
            self.graphs.define(self.texts[start + 1], Tuple(()))
        elif kind == "local" and self.kinds[start + 1] == "=":
            self.locals.define(text, Var("_"))
        elif kind == "graph" and self.kinds[start + 1] == "=":
            self.graphs.define(text, Tuple(()))

    def _folded(self, lets: list[tuple[Var, Expr, int]], value: Expr | None) -> Expr:
        value = self.placeholder() if value is None else value
        source = self.tokens.source
        end = self.span_from(self.position - 1).end
        for var, bound, start in reversed(lets):
            attrs = self.attrs_of_let.get(var, NO_ATTRS)
            value = Let(var, bound, value, attrs, span=Span(source, self.starts[start], end))
        return value

    def _let(self) -> tuple[Var, Expr]:
        self.position += 1
        at = self.position
        if self.kinds[at] == "graph":
            raise self.fail("RL001", at, "a graph variable is bound without `let`", f"write `{self.texts[at]} = ...;`")
        name = self.expect("local", " behind `let`")
        device, text = self._device_text()
        annotation = self.annotation() if self.accept(":") else None
        self.expect("=")
        var = Var(name[1:], annotation, span=self.tokens.span(at))
        self._mark(var, text)
        if device is not None:
            self.attrs_of_let[var] = attrs_of({_DEVICE: device})
        if self._is_function_ahead():
            # A function may call itself.
            self.locals.define(name, var)
            return var, self.item()
        value = self.item()
        self.locals.define(name, var)
        return var, value

    def _is_function_ahead(self) -> bool:
        """Tell whether a function literal starts here; TVM puts long ones in parentheses."""
        at = self.position
        while self.kinds[at] == "(":
            at += 1
        return self.kinds[at] == "fn"

    def _let_without_word(self) -> tuple[Var, Expr]:
        """Read `%x = ...`, as people write it in a discussion."""
        at = self.position
        name = self.texts[at]
        self.note_spelling(at, f"`{name} = ...` is read as `let {name} = ...`")
        self.position += 2
        value = self.item()
        var = Var(name[1:], span=self.tokens.span(at))
        self.locals.define(name, var)
        return var, value

    def note_spelling(self, at: int, message: str) -> None:
        """Warn of a spelling that TVM does not read."""
        self.report.say("note", "RL015", self.tokens.span(at), message)

    def _bind_graph(self) -> Expr:
        name = self.texts[self.position]
        self.position += 2
        value = self.item()
        self.graphs.define(name, value)
        self.ended_graphs[name] = value
        return value

    def _free_var(self) -> Expr | None:
        self.position += 1
        at = self.position
        if self.kinds[at] != "graph":
            self.expect("local", " behind `free_var`")
        else:
            self.position += 1
        _, text = self._device_text()
        annotation = self.annotation() if self.accept(":") else None
        var = self.add_free_var(at, annotation)
        self._mark(var, text)
        return var

    def skip_elision(self) -> None:
        """Skip `...`, where a log leaves something out."""
        if not self.has_elisions:
            message = "`...` stands for something that the text leaves out"
            self.report.say("note", "RL017", self.tokens.span(self.position), message)
        self.has_elisions = True
        self.position += 1

    def _device_text(self) -> tuple[AttrValue, str]:
        """Read `{virtual_device=...}` behind a variable that is no parameter; return the device and its text."""
        start = self.position
        device = self.device()
        span = self.span_from(start)
        return device, self.tokens.source.text[span.start : span.end] if self.position > start else ""

    def _mark(self, var: Var, text: str) -> None:
        if text:
            self.notes.marks[var] = text

    def device(self) -> AttrValue:
        """Read `{virtual_device=...}` behind a variable."""
        if self.kinds[self.position] != "{":
            return None
        self.position += 1
        attrs = self.attributes("}")
        self.expect("}")
        return attrs[0][1] if attrs else None
