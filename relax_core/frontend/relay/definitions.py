"""Read definitions: functions, algebraic data types, extern types."""

from dataclasses import dataclass

from relax_core.frontend.relay.expressions import ExpressionReader
from relax_core.frontend.relay.lexer.tokens import Tokens
from relax_core.ir.expr import GlobalVar, Type
from relax_core.ir.module import Definition
from relax_core.ir.relay import Constructor, TypeData


@dataclass(frozen=True, slots=True)
class Item:
    """A definition in tokens: the token of its keyword, its name and the token behind its last."""

    kind: str
    name: str
    start: int
    end: int


def find_items(tokens: Tokens) -> tuple[Item, ...]:
    """Find the definitions by their keywords, which stand nowhere else. Linear in the text."""
    kinds, texts = tokens.kinds, tokens.texts
    starts: list[tuple[int, str, str]] = []
    for at, kind in enumerate(kinds):
        if kind == "def":
            name = texts[at + 1][1:] if kinds[at + 1] == "global" else ""
            starts.append((at, "def", name))
        elif kind == "type" and kinds[at + 1] == "ident" and kinds[at + 2] in ("{", "[", "="):
            if at == 0 or kinds[at - 1] != "extern":
                starts.append((at, "type", texts[at + 1]))
        elif kind == "extern" and kinds[at + 1] == "type":
            starts.append((at, "extern", texts[at + 2] if kinds[at + 2] == "ident" else ""))
    ends = [*(at for at, _, _ in starts[1:]), tokens.count] if starts else []
    return tuple(Item(kind, name, at, end) for (at, kind, name), end in zip(starts, ends, strict=True))


def declared_arity(tokens: Tokens, item: Item) -> int:
    """Count the parameters of a type without reading it."""
    at = item.start + (3 if item.kind == "extern" else 2)
    count = 0
    if tokens.kinds[at] == "[":
        while at < item.end and tokens.kinds[at] != "]":
            count += tokens.kinds[at] == "ident"
            at += 1
    return count


class DefinitionReader(ExpressionReader):
    """Reads one definition after the other."""

    def function_definition(self, item: Item, var: GlobalVar) -> Definition:
        """Read `def @name(...) { ... }`; an analysis may have printed a device behind it."""
        self.position = item.start + 1
        self.expect("global", " behind `def`")
        function = self.function(item.start)
        if self.kinds[self.position] == "mark":
            self.notes.marks[function] = self.texts[self.position]
            self.position += 1
        return Definition(var, function, span=function.span)

    def type_definition(self, item: Item) -> TypeData:
        """Read `type List[A] { Cons(A, List[A]), Nil }`, or `extern type Storage`; defines the constructors."""
        is_extern = item.kind == "extern"
        self.position = item.start + (2 if is_extern else 1)
        name = self.expect("ident", " behind `type`")
        scope = self.enter()
        params = self.type_params()
        constructors: list[Constructor] = []
        if not is_extern:
            is_old = self.accept("=")
            if not is_old:
                self.expect("{")
            while self.position < item.end and self.kinds[self.position] != "}":
                self.accept("|")
                constructors.append(self._constructor(name))
                if not self.accept(",") and self.kinds[self.position] != "|":
                    break
            if not is_old:
                self.expect("}", " behind the constructors")
        else:
            self.accept(";")
        self.leave(scope)
        return TypeData(name, params, tuple(constructors), is_extern, span=self.span_from(item.start))

    def _constructor(self, type_name: str) -> Constructor:
        at = self.position
        name = self.expect("ident", ", a constructor")
        fields: list[Type] = []
        if self.accept("("):
            while self.kinds[self.position] != ")":
                fields.append(self.type())
                if not self.accept(","):
                    break
            self.expect(")")
        made = Constructor(name, type_name, tuple(fields), span=self.span_from(at))
        before = self.names.constructors.get(name)
        if before is not None:
            self.is_broken = True
            message = f"the constructor {name} is there twice, in {before.type_name} and in {type_name}"
            self.report.error("RL012", self.tokens.span(at), message)
        self.names.constructors[name] = made
        return made
