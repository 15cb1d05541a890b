"""Leaves of expressions: names, numbers and references to the metadata section."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from relax_core.diagnostics import Suggestion
from relax_core.frontend.relay.attributes import AttributeReader
from relax_core.frontend.relay.lexer.numbers import MalformedNumber, is_bfloat16, read_number
from relax_core.frontend.relay.lexer.tokens import Tokens
from relax_core.frontend.relay.metadata import meta_parts
from relax_core.frontend.relay.operators import ATTRIBUTES_OF
from relax_core.frontend.relay.report import Report, close_name, did_you_mean
from relax_core.frontend.relay.scope import Library, ModuleNames, Names, Notes
from relax_core.ir.absent import absent_constant
from relax_core.ir.expr import Call, Constant, Expr, GlobalVar, Op, Tuple, Type, Var
from relax_core.ir.relay import Constructor
from relax_core.ops.relay import is_foreign
from relax_core.source import Span

# Names that people use in discussions.
_SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {"compiler_begin": "annotation.compiler_begin", "compiler_end": "annotation.compiler_end"}
)


@dataclass(frozen=True, slots=True)
class ScopeMark:
    """Marks to leave a scope with."""

    locals: int
    graphs: int
    type_vars: int


class Resolver(AttributeReader):
    """Resolves names. In a text that is one expression, `free_vars` collects its free variables.

    `bound_graphs` are then the graph variables that the text binds anywhere, which are not free.
    """

    def __init__(self, tokens: Tokens, report: Report, names: ModuleNames, library: Library, notes: Notes) -> None:
        AttributeReader.__init__(self, tokens, report, names, library, notes)
        self.locals: Names[Var] = Names()
        self.graphs: Names[Expr] = Names()
        # TVM numbers graph variables through a whole function, and may use one behind the block that has it.
        self.ended_graphs: dict[str, Expr] = {}
        self.free_vars: dict[str, Var] | None = None
        self.bound_graphs: Collection[str] = ()
        self.has_elisions = False
        # Stand-ins for undefined names, which are not offered as suggestions.
        self.undefined: set[Var] = set()

    def enter(self) -> ScopeMark:
        """Start a scope."""
        return ScopeMark(self.locals.enter(), self.graphs.enter(), self.type_vars.enter())

    def leave(self, scope: ScopeMark) -> None:
        """Leave a scope, with all inner scopes that are still open."""
        self.locals.leave(scope.locals)
        self.graphs.leave(scope.graphs)
        self.type_vars.leave(scope.type_vars)

    def placeholder(self) -> Expr:
        """Return a stand-in for an erroneous expression; its definition is dropped from the module."""
        self.is_broken = True
        return Tuple(())

    def local(self) -> Expr:
        """Read `%x`."""
        at = self.position
        self.position = at + 1
        found = self.locals.visible.get(self.texts[at])
        return self._undefined_local(at) if found is None else found

    def _undefined_local(self, at: int) -> Expr:
        text = self.texts[at]
        known = self.locals.visible
        if self.free_vars is not None and text not in self.locals.ended:
            close = close_name(text, known)
            if close is not None:
                message = f"{text} is not defined here; it becomes a parameter"
                self.report.say("warning", "RL004", self.tokens.span(at), message, Suggestion(text, close))
            return self.add_free_var(at, None)
        self.is_broken = True
        defined = [name for name, var in known.items() if var not in self.undefined]
        self.report.error("RL004", self.tokens.span(at), f"{text} is not defined here", did_you_mean(text, defined))
        var = Var(text[1:])
        self.undefined.add(var)
        self.locals.define(text, var)
        return var

    def add_free_var(self, at: int, annotation: Type | None) -> Var:
        """Make the variable at token `at` a parameter of the expression."""
        text = self.texts[at]
        name = f"v{text[1:]}" if text[1].isdigit() else text[1:]
        var = Var(name, annotation, span=self.tokens.span(at))
        if self.free_vars is not None:
            self.free_vars[text] = var
            # It is visible to the end of the text, also if it is first met in a block.
            self.locals.visible[text] = var
        else:
            self.locals.define(text, var)
        return var

    def graph(self) -> Expr:
        """Read `%0`."""
        at = self.position
        self.position = at + 1
        text = self.texts[at]
        found = self.graphs.visible.get(text) or self.ended_graphs.get(text)
        if found is not None:
            return found
        if self.free_vars is not None and text not in self.bound_graphs:
            var = self.add_free_var(at, None)
            self.ended_graphs[text] = var
            return var
        self.is_broken = True
        hint = f"write `{text} = ...;` before it"
        self.report.error("RL005", self.tokens.span(at), f"the graph variable {text} is not defined here", hint)
        self.ended_graphs[text] = Tuple(())
        return self.ended_graphs[text]

    def global_(self) -> GlobalVar:
        """Read `@f`."""
        at = self.position
        self.position = at + 1
        name = self.texts[at][1:]
        found = self.names.globals.get(name) or self.names.undefined.get(name)
        if found is None and self.library.add_global(name):
            found = self.names.globals.get(name)
        return self._undefined_global(name, at) if found is None else found

    def _undefined_global(self, name: str, at: int) -> GlobalVar:
        span = self.tokens.span(at)
        message = f"@{name} is not defined in this text"
        hint = did_you_mean(name, [*self.names.globals, *self.library.global_names], "@")
        if self.names.is_fragment and not hint:
            self.report.say("warning", "RL011", span, message, f"it opens as a fragment; calls of @{name} cannot run")
        else:
            self.is_broken = True
            self.report.error("RL006", span, message, hint)
        found = self.names.undefined[name] = GlobalVar(name, span=span)
        return found

    def named(self) -> Expr:
        """Read the name of an operator or of a constructor; one without fields is called with none."""
        at = self.position
        self.position = at + 1
        name = self.texts[at]
        span = self.tokens.span(at)
        constructor = self.constructor(name)
        if constructor is not None:
            is_value = not constructor.field_types and self.kinds[self.position] != "("
            return Call(constructor, span=span) if is_value else constructor
        if name in _SHORT_NAMES:
            message = f"`{name}` is read as `{_SHORT_NAMES[name]}`"
            self.report.say("note", "RL015", span, message)
            return Op(_SHORT_NAMES[name], span=span)
        if name not in ATTRIBUTES_OF:
            self._unknown_operator(name, span)
        return Op(name, span=span)

    def _unknown_operator(self, name: str, span: Span) -> None:
        known = (*ATTRIBUTES_OF, *self.names.constructors, *self.library.constructor_names)
        close = did_you_mean(name, known)
        if not close:
            same_end = [item for item in ATTRIBUTES_OF if item.endswith(f".{name}")]
            close = Suggestion(name, same_end[0]) if same_end else ""
        if not close and f"%{name}" in self.locals.visible:
            close = Suggestion(name, f"%{name}")
        if not close and name in self.names.globals:
            close = Suggestion(name, f"@{name}")
        if is_foreign(name) and not close:
            message = f"`{name}` is not an operator of Relay itself; it is shown, and cannot be checked or run"
            self.report.say("warning", "RL013", span, message)
            return
        self.is_broken = True
        self.report.error("RL007", span, f"there is no operator or constructor `{name}`", close)

    def constructor(self, name: str) -> Constructor | None:
        """Resolve a constructor in the module, then in the library."""
        found = self.names.constructors.get(name)
        if found is None and self.library.add_constructor(name):
            found = self.names.constructors.get(name)
        return found

    def number(self) -> Expr:
        """Read a number."""
        return self._number_from(self.position, "")

    def signed_number(self, first: int, sign: str) -> Expr:
        """Read a number whose sign has been read; `first` is the token of the sign."""
        return self._number_from(first, sign)

    def _number_from(self, first: int, sign: str) -> Expr:
        at = self.position
        self.position = at + 1
        text = self.texts[at]
        try:
            data = read_number(sign + text)
        except MalformedNumber as error:
            self.is_broken = True
            self.report.error("RL009", self.span_from(first), f"{sign}{text}: {error}")
            return Constant(np.zeros((), "int32"), span=self.span_from(first))
        if self.kinds[at] == "number" and data.dtype.kind == "f":
            self.note_suffix(at, text)
        return self._narrowed(Constant(data, span=self.span_from(first)), is_narrow=is_bfloat16(text))

    def _narrowed(self, value: Constant, *, is_narrow: bool) -> Expr:
        """Return `value`, or its cast to bfloat16, for which NumPy has no dtype."""
        if not is_narrow:
            return value
        return Call(Op("cast", span=value.span), (value,), (("dtype", "bfloat16"),), span=value.span)

    def truth(self) -> Constant:
        """Read `True` or `False`."""
        at = self.position
        self.position = at + 1
        data = np.array(self.kinds[at] == "True")
        data.flags.writeable = False
        return Constant(data, span=self.tokens.span(at))

    def meta_constant(self) -> Expr:
        """Read `meta[relay.Constant][0]`; without its tensor it is known only by the type in the comment behind it."""
        at = self.position
        self.position = at + 1
        name, index = meta_parts(self.texts[at])
        if name != "relay.Constant":
            raise self.fail("RL001", at, f"`{self.texts[at]}` is not an expression", "only meta[relay.Constant] is one")
        data = self.metadata.constant(index)
        if data is None:
            self.report_missing(at)
            return absent_constant(self.texts[at], self.type_in_comment(), self.tokens.span(at))
        is_narrow = self.metadata.constant_dtype(index) == "bfloat16"
        return self._narrowed(Constant(data, span=self.tokens.span(at)), is_narrow=is_narrow)
