"""Seeded random Relay programs as text: well typed by construction, and sure to end.

A program has data types of its own, recursive and polymorphic functions, and a `main` whose expression is drawn type by
type: lets, closures, constructors, match two patterns deep, references, tuples, branches, calls.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeAlias

Kind: TypeAlias = "tuple[str, *tuple[Kind, ...]]"
Scope: TypeAlias = tuple[tuple[str, Kind], ...]

INT: Kind = ("int32",)
BOOL: Kind = ("bool",)
VECTOR: Kind = ("Tensor[(3,), int32]",)
TREE: Kind = ("Tree",)

HEAD = """\
#[version = "0.0.5"]
type Tree { Leaf(int32), Node(Tree, int32, Tree) }
type Pair[A, B] { Both(A, B), One(A), Neither }
def @swap[A, B](%p: (A, B)) -> (B, A) { (%p.1, %p.0) }
def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
def @first[A, B](%p: Pair[A, B], %d: A) -> A { match (%p) { Both(%a, _) => %a, One(%a) => %a, Neither => %d, } }
def @total(%t: Tree) -> int32 {
  match (%t) { Leaf(%n) => %n, Node(%l, %n, %r) => add(@total(%l), add(%n, @total(%r))), }
}
def @grown(%n: int32, %t: Tree) -> Tree {
  if (less_equal(%n, 0)) { %t } else { Node(@grown(subtract(%n, 1), %t), %n, Leaf(%n)) }
}
def @even(%n: int32) -> bool { if (less_equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (less_equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
"""
BINARY = ("add", "subtract", "maximum", "minimum")
COMPARED = ("less", "equal", "greater_equal", "not_equal")


def shown(kind: Kind) -> str:
    """Return a type as text."""
    name, *parts = kind
    words = [shown(part) for part in parts]
    match name:
        case "tuple":
            return f"({', '.join(words)})"
        case "fn":
            return f"fn ({', '.join(words[:-1])}) -> {words[-1]}"
        case "ref":
            return f"ref({words[0]})"
        case _:
            return f"{name}[{', '.join(words)}]" if words else name


@dataclass
class Writer:
    """Writes the text of one program; `budget` is how many expressions it may still draw freely."""

    random: Random
    budget: int = 60
    number: int = 0
    functions: list[tuple[str, Kind]] = field(default_factory=list["tuple[str, Kind]"])

    def program(self) -> str:
        """Return a module whose `main` takes an integer and a vector."""
        lines = [HEAD]
        for _ in range(self.random.randint(0, 2)):
            lines.append(self.recursive())
        result = self.kind(2, with_functions=False)
        params: Scope = (("%x", INT), ("%v", VECTOR))
        body = self.block(result, params, 4)
        lines.append(f"def @main(%x: int32, %v: {shown(VECTOR)}) -> {shown(result)} {body}")
        return "\n".join(lines)

    def recursive(self) -> str:
        """Return a function that calls itself a few times, and may be called from then on."""
        name, kind = self.fresh("@f"), self.kind(1, with_functions=False)
        step = self.expr(kind, (("%n", INT), ("%a", kind)), 2)
        self.functions.append((name, kind))
        return (
            f"def {name}(%n: int32, %a: {shown(kind)}) -> {shown(kind)} "
            f"{{ if (less_equal(%n, 0)) {{ %a }} else {{ {name}(subtract(%n, 1), {step}) }} }}"
        )

    def fresh(self, hint: str) -> str:
        """Return a name that is not taken."""
        self.number += 1
        return f"{hint}{self.number}"

    def kind(self, depth: int, *, with_functions: bool = True) -> Kind:
        """Draw a type; a reference is never inside another type, so that no program needs its identity."""
        flat: list[Kind] = [INT, INT, BOOL, VECTOR, TREE]
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice(flat)
        part = partial(self.kind, depth - 1, with_functions=with_functions)
        names = ["tuple", "List", "Option", "Pair", *(["fn", "fn"] if with_functions else [])]
        match self.random.choice(names):
            case "List":
                return ("List", part())
            case "Option":
                return ("Option", part())
            case name:
                return (name, part(), part())

    def block(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return an expression in braces, with lets before it."""
        lines: list[str] = []
        for _ in range(self.random.randint(0, 2 if depth else 0)):
            if self.random.random() < 0.25:
                scope, added = self.reference(scope, depth)
                lines += added
                continue
            name, given = self.fresh("%a"), self.kind(2)
            # An annotation is left out where the value says its type.
            note = f": {shown(given)}" if len(given) > 1 or self.random.random() < 0.5 else ""
            lines.append(f"let {name}{note} = {self.expr(given, scope, depth - 1)};")
            scope = (*scope, (name, given))
        return f"{{ {' '.join(lines)} {self.expr(kind, scope, depth)} }}"

    def reference(self, scope: Scope, depth: int) -> tuple[Scope, list[str]]:
        """Return lets that make a reference, write it and read it before and behind."""
        held = self.kind(1)
        ref, before, done, behind = (self.fresh(hint) for hint in ("%r", "%b", "%w", "%c"))
        lines = [
            f"let {ref} = ref({self.typed(held, scope, depth - 1)});",
            f"let {before} = ref_read({ref});",
            f"let {done} = ref_write({ref}, {self.expr(held, (*scope, (before, held)), depth - 1)});",
            f"let {behind} = ref_read({ref});",
        ]
        return (*scope, (before, held), (behind, held)), lines

    def typed(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return an expression that says its type, where nothing else does."""
        name, value = self.fresh("%q"), self.expr(kind, scope, depth)
        return value if len(kind) == 1 else f"{{ let {name}: {shown(kind)} = {value}; {name} }}"

    def expr(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return an expression of a type."""
        self.budget -= 1
        known = [name for name, item in scope if item == kind]
        if known and (depth <= 0 or self.random.random() < 0.35):
            return self.random.choice(known)
        if depth <= 0 or self.budget <= 0:
            return self.made(kind, scope, 0)
        ways: list[Callable[[Kind, Scope, int], str]] = [
            self.made, self.made, self.made, self.branch, self.matched, self.projected, self.called, self.applied,
            self.polymorphic, self.nested,
        ]  # fmt: skip
        return self.random.choice(ways)(kind, scope, depth - 1)

    def made(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return an expression by the operators or constructors of a type."""
        part = partial(self.expr, scope=scope, depth=depth)
        match kind:
            case ("int32",):
                return self.integer(scope, depth)
            case ("bool",):
                if depth <= 0:
                    return self.random.choice(["True", "False"])
                return f"{self.random.choice(COMPARED)}({part(INT)}, {part(INT)})"
            case ("Tree",):
                if depth <= 0 or self.random.random() < 0.3:
                    return f"Leaf({part(INT)})"
                return f"Node({part(TREE)}, {part(INT)}, {part(TREE)})"
            case ("tuple", *parts):
                return f"({', '.join(map(part, parts))})"
            case ("List", item):
                return f"Cons({part(item)}, {part(kind)})" if depth > 0 else f"Cons({part(item)}, Nil)"
            case ("Option", item):
                return f"Some({part(item)})" if self.random.random() < 0.7 else "None"
            case ("Pair", first, second):
                return self.random.choice([f"Both({part(first)}, {part(second)})", f"One({part(first)})", "Neither"])
            case ("fn", given, result):
                name = self.fresh("%p")
                body = self.block(result, (*scope, (name, given)), depth)
                return f"fn ({name}: {shown(given)}) -> {shown(result)} {body}"
            case _:
                return (
                    f"{self.random.choice(BINARY)}({part(VECTOR)}, {part(INT)})"
                    if depth > 0
                    else 'ones(shape=[3], dtype="int32")'
                )

    def integer(self, scope: Scope, depth: int) -> str:
        if depth <= 0:
            return str(self.random.randint(0, 5))
        match self.random.randint(0, 3):
            case 0:
                return f"@total({self.expr(TREE, scope, depth - 1)})"
            case 1:
                return f"sum({self.expr(VECTOR, scope, depth - 1)})"
            case _:
                name = self.random.choice(BINARY)
                return f"{name}({self.expr(INT, scope, depth - 1)}, {self.expr(INT, scope, depth - 1)})"

    def branch(self, kind: Kind, scope: Scope, depth: int) -> str:
        test = self.expr(BOOL, scope, depth)
        return f"if ({test}) {self.block(kind, scope, depth)} else {self.block(kind, scope, depth)}"

    def nested(self, kind: Kind, scope: Scope, depth: int) -> str:
        return self.block(kind, scope, depth)

    def matched(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return a match that looks two constructors deep, with a clause for what is left."""
        inner = self.kind(1)
        looked: Kind = self.random.choice([TREE, ("List", inner), ("Option", ("List", inner)),
                                           ("Pair", INT, ("tuple", inner, BOOL))])  # fmt: skip
        clauses: list[str] = []
        for pattern, added in self.patterns(looked, inner):
            body = self.block(kind, (*scope, *added), depth - 1)
            clauses.append(f"{pattern} => {body},")
        return f"match ({self.typed(looked, scope, depth)}) {{ {' '.join(clauses)} }}"

    def patterns(self, looked: Kind, inner: Kind) -> list[tuple[str, Scope]]:
        a, b, c = (self.fresh("%m") for _ in range(3))
        rest: tuple[str, Scope] = ("_", ())
        match looked:
            case ("Tree",):
                return [
                    (f"Node(Node(_, {a}, {b}), {c}, Leaf(_))", ((a, INT), (b, TREE), (c, INT))),
                    (f"Node({a}, _, {b})", ((a, TREE), (b, TREE))),
                    (f"Leaf({a})", ((a, INT),)),
                ]
            case ("List", _):
                whole: Kind = ("List", inner)
                return [
                    (f"Cons({a}, Cons({b}, {c}))", ((a, inner), (b, inner), (c, whole))),
                    (f"Cons({a}, Nil)", ((a, inner),)),
                    rest,
                ]
            case ("Option", _):
                return [(f"Some(Cons({a}, _))", ((a, inner),)), (f"Some({a})", ((a, ("List", inner)),)), rest]
            case _:
                return [
                    (f"Both({a}, ({b}, {c}))", ((a, INT), (b, inner), (c, BOOL))),
                    (f"One({a})", ((a, INT),)),
                    ("Neither", ()),
                ]

    def projected(self, kind: Kind, scope: Scope, depth: int) -> str:
        other = self.kind(1)
        whole, at = (("tuple", kind, other), 0) if self.random.random() < 0.5 else (("tuple", other, kind), 1)
        name = self.fresh("%t")
        return f"{{ let {name}: {shown(whole)} = {self.expr(whole, scope, depth)}; {name}.{at} }}"

    def called(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return a call of a recursive function of this type, if there is one, a few steps deep."""
        names = [name for name, item in self.functions if item == kind]
        steps = self.random.randint(0, 3)
        if kind == BOOL:
            return f"{self.random.choice(['@even', '@odd'])}({steps})"
        if kind == TREE:
            return f"@grown({steps}, {self.expr(TREE, scope, depth)})"
        if not names:
            return self.made(kind, scope, depth)
        return f"{self.random.choice(names)}({steps}, {self.expr(kind, scope, depth)})"

    def applied(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return the call of a function value: one in scope, or one that is bound here."""
        known = [(name, parts[0]) for name, (head, *parts) in scope if head == "fn" and parts[-1] == kind]
        if known:
            name, taken = self.random.choice(known)
            return f"{name}({self.expr(taken, scope, depth)})"
        given = self.kind(1)
        name = self.fresh("%g")
        function = self.made(("fn", given, kind), scope, depth)
        return f"{{ let {name} = {function}; {name}({self.expr(given, scope, depth)}) }}"

    def literal(self, given: Kind, result: Kind, *, scope: Scope, depth: int) -> str:
        """Return a function literal."""
        return self.made(("fn", given, result), scope, depth)

    def polymorphic(self, kind: Kind, scope: Scope, depth: int) -> str:
        """Return a call of a polymorphic function, of the program or of the prelude, or of a literal."""
        part = partial(self.typed, scope=scope, depth=depth)
        function = partial(self.literal, scope=scope, depth=depth)
        other = self.kind(1)
        head, *parts = kind
        match self.random.randint(0, 6):
            case 0:
                return f"@twice({function(kind, kind)}, {part(kind)})"
            case 1:
                return f"@first({part(('Pair', kind, other))}, {part(kind)})"
            case 2:
                a, b = self.fresh("%p"), self.fresh("%p")
                body = self.block(kind, (*scope, (a, kind), (b, other)), depth)
                step = f"fn ({a}: {shown(kind)}, {b}: {shown(other)}) -> {shown(kind)} {body}"
                return f"@foldl({step}, {part(kind)}, {part(('List', other))})"
            case 3:
                return f"@compose({function(other, kind)}, {function(INT, other)})({part(INT)})"
            case 4 if head == "List":
                return f"@map({function(other, parts[0])}, {part(('List', other))})"
            case 4 if head == "tuple" and len(parts) == 2:
                return f"@swap({part(('tuple', parts[1], parts[0]))})"
            case 5:
                name, param = self.fresh("%h"), self.fresh("%p")
                body = f"({param}, {self.expr(INT, scope, depth)})"
                literal = f"fn [T]({param}: T) -> (T, int32) {{ {body} }}"
                return f"{{ let {name} = {literal}; let {name}x = {name}({part(kind)}); {name}x.0 }}"
            case _:
                return f"@id({part(kind)})"


def program_text(seed: int) -> str:
    """Return the program of a seed."""
    return Writer(Random(seed)).program()
