"""Read what has blocks: functions, conditionals, `match` and its patterns."""

from abc import abstractmethod

from relax_core.frontend.relay.attributes import PARAM_DEVICES
from relax_core.frontend.relay.report import did_you_mean
from relax_core.frontend.relay.sequences import SequenceReader
from relax_core.ir.attrs import NO_ATTRS, Attrs, AttrValue
from relax_core.ir.expr import Expr, Function, If, Var
from relax_core.ir.relay import Clause, Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard


class CompoundReader(SequenceReader):
    """Reads expressions with blocks in them."""

    @abstractmethod
    def parenthesis(self) -> Expr:
        """Read a tuple, or an expression in parentheses."""

    @abstractmethod
    def atom(self) -> Expr | None:
        """Read an expression without the calls behind it; `None` if none starts here."""

    def fn(self) -> Expr:
        start = self.position
        self.position += 1
        return self.function(start)

    def function(self, start: int) -> Function:
        """Read a function behind `fn` or `def @name`; `start` is the token where it starts."""
        scope = self.enter()
        type_params = self.type_params()
        params, attrs = self._params()
        ret_type = self.annotation() if self.accept("->") else None
        body = self.block()
        self.leave(scope)
        return Function(params, body, ret_type, attrs, type_params=type_params, span=self.span_from(start))

    def _params(self) -> tuple[tuple[Var, ...], Attrs]:
        self.expect("(", " before the parameters")
        params: list[Var] = []
        names: set[str] = set()
        devices: list[AttrValue] = []
        attrs: Attrs = NO_ATTRS
        while self.kinds[self.position] != ")":
            if self.at_attribute():
                attrs = self.attributes(")")
                break
            at = self.position
            name = self.expect("local", ", a parameter")
            devices.append(self.device())
            annotation = self.annotation() if self.accept(":") else None
            var = Var(name[1:], annotation, span=self.tokens.span(at))
            if name in names:
                self.is_broken = True
                self.report.error("RL012", self.tokens.span(at), f"the parameter {name} is there twice")
            params.append(var)
            # Parameters that are not used may all be called `%_`.
            names.update({name} - {"%_"})
            self.locals.define(name, var)
            if not self.accept(","):
                break
        self.expect(")", " behind the parameters")
        if any(device is not None for device in devices):
            attrs = (*attrs, (PARAM_DEVICES, tuple(devices)))
        return tuple(params), attrs

    def if_(self) -> Expr:
        start = self.position
        self.position += 1
        if self.kinds[self.position] != "(":
            raise self.unexpected("`(` before the condition")
        condition = self.parenthesis()
        true_branch = self.block()
        self.expect("else", ": a conditional has both branches")
        if self.kinds[self.position] == "if":
            self.deeper()
            false_branch = self.if_()
            self.depth -= 1
        else:
            false_branch = self.block()
        return If(condition, true_branch, false_branch, span=self.span_from(start))

    def match(self) -> Expr:
        start = self.position
        is_complete = self.kinds[start] == "match"
        self.position += 1
        value = self.atom() if self.kinds[self.position] != "{" else None
        if value is None:
            raise self.unexpected("the value that is matched, in parentheses")
        self.expect("{", " before the clauses")
        clauses: list[Clause] = []
        while self.kinds[self.position] != "}":
            clauses.append(self._clause())
            if not self.accept(",") and self.kinds[self.position] not in ("}", "|", "ident", "_", "local", "("):
                raise self.unexpected("`,` or `}` behind the clause")
        self.position += 1
        return Match(value, tuple(clauses), is_complete, span=self.span_from(start))

    def _clause(self) -> Clause:
        self.accept("|")
        start = self.position
        scope = self.enter()
        pattern = self.pattern()
        self.expect("=>", " behind the pattern")
        if self.kinds[self.position] == "{":
            body = self.block()
        else:
            may_lack_value, self.may_lack_value = self.may_lack_value, False
            body = self.sequence()
            self.may_lack_value = may_lack_value
        self.leave(scope)
        return Clause(pattern, body, span=self.span_from(start))

    def pattern(self) -> Pattern:
        """Read a pattern."""
        self.deeper_part()
        made = self._pattern()
        self.part_depth -= 1
        return made

    def _pattern(self) -> Pattern:
        start = self.position
        match self.kinds[start]:
            case "_":
                self.position += 1
                return PatternWildcard(span=self.tokens.span(start))
            case "local":
                self.position += 1
                name = self.texts[start]
                annotation = self.annotation() if self.accept(":") else None
                var = Var(name[1:], annotation, span=self.tokens.span(start))
                self.locals.define(name, var)
                return PatternVar(var, span=self.span_from(start))
            case "(":
                return PatternTuple(self._patterns(), span=self.span_from(start))
            case "ident":
                self.position += 1
                name = self.texts[start]
                constructor = self.constructor(name)
                patterns = self._patterns() if self.kinds[self.position] == "(" else ()
                if constructor is None:
                    known = (*self.names.constructors, *self.library.constructor_names)
                    raise self.fail("RL007", start, f"there is no constructor `{name}`", did_you_mean(name, known))
                return PatternConstructor(constructor, patterns, span=self.span_from(start))
            case _:
                raise self.unexpected("a pattern", "a constructor, a variable, `_`, or patterns in parentheses")

    def _patterns(self) -> tuple[Pattern, ...]:
        self.position += 1
        found: list[Pattern] = []
        while self.kinds[self.position] != ")":
            found.append(self.pattern())
            if not self.accept(","):
                break
        self.expect(")")
        return tuple(found)
