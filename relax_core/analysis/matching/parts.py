"""Parts: the functions, parameters, bindings, blocks, loops and statements of a module, as matching sees them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.node import Node

PartKind: TypeAlias = Literal[
    "function", "prim func", "parameter", "binding", "call", "field", "tuple", "if", "match", "result",
    "buffer", "block", "loop", "store", "let", "while", "assert", "attribute",
]  # fmt: skip
Operand: TypeAlias = "Part | str"
"""What a part computes with: another part, or the text of a literal."""

_MACHINE_MADE: Final = re.compile(r"(?:gv|lv|alloc|storage|cse_v|cse_var_?|_)_?\d*(?:_\d+)?|shape_heap|rv\d*")
_COUNTED: Final = re.compile(r"(?<=.)_?\d+$")
_NO_LETTER: Final = re.compile(r"(?<=\w)[^\w ]")
"""What a name may have in Relay and not in Python."""
_SUFFIX: Final = re.compile(r"(?<=.)_(?:\d+|ptr)$")
VALUES: Final = ("binding", "call", "field", "tuple", "if", "match")
"""The kinds of what computes a value of Relax or Relay."""
_MEMORY: Final = ("parameter", "buffer")
_SAME_FAMILY: Final = MappingProxyType({"kill_tensor": "kill", "kill_object": "kill", "kill_storage": "kill"})


@dataclass(slots=True, eq=False)
class Part:
    """A part of a function. `order` counts the parts of the function from 0, the function itself.

    `operator` names what it computes, without operands; `callee` is the function of the module that it calls.
    `parent` encloses it. `line` is where it begins in the text, 0 if it has no place there.
    """

    kind: PartKind
    name: str
    node: Node
    function: str
    parent: "Part | None" = None
    operator: str = ""
    operands: "tuple[Operand, ...]" = ()
    callee: str = ""
    attributes: Attrs = NO_ATTRS
    order: int = 0
    line: int = 0
    root: "Part | None" = None
    """Of a buffer that is a view: the one that has the memory."""
    results: "tuple[tuple[Operand, ...], ...]" = ()
    """What a function, or each branch of an `if`, returns."""
    value: "Operand | None" = None
    """Of another name for a value, or an annotation of it: that value."""
    _family: str | None = None

    @property
    def family(self) -> str:
        """The operator without what passes change about it: its dialect, a number behind its name, how it is called."""
        if self._family is None:
            self._family = family_of(self.callee or self.operator)
        return self._family

    @property
    def is_named(self) -> bool:
        """Tell whether a person named it: compilers number theirs anew in each pass."""
        return bool(self.name) and _MACHINE_MADE.fullmatch(self.name) is None

    @property
    def sort(self) -> str:
        """The kind, with parameters and buffers as one: passes make one of the other.

        A variable of a pattern is a binding, and a match is an `if`: so they become where patterns are tested step by
        step.
        """
        if self.kind == "parameter" and self.parent is not None and self.parent.kind == "match":
            return "binding"
        if self.kind in ("if", "match"):
            return "if"
        is_value = self.kind == "call" or (self.kind == "function" and self.parent is not None)
        return "buffer" if self.kind in _MEMORY else "binding" if is_value else self.kind

    @property
    def memory(self) -> "Part":
        """The buffer that has the memory of this one."""
        found = self
        while found.root is not None and found.root is not found:
            found = found.root
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The parts of a function in order, itself first, and which part a node belongs to."""

    name: str
    parts: tuple[Part, ...]
    part_of: Mapping[Node, Part]
    callees: frozenset[str]
    """The functions of the module that it names."""
    is_prim: bool

    @property
    def function(self) -> Part:
        """The function itself."""
        return self.parts[0]

    @property
    def parameters(self) -> tuple[Part, ...]:
        """The parameters of the function in order."""
        top = self.parts[0]
        return tuple(part for part in self.parts if part.kind == "parameter" and part.parent is top)


@dataclass(slots=True, eq=False)
class OutlineBuilder:
    """Collects the parts of one function."""

    name: str
    parts: list[Part] = field(default_factory=list[Part])
    part_of: dict[Node, Part] = field(default_factory=dict[Node, Part])
    callees: set[str] = field(default_factory=set[str])

    def add(self, kind: PartKind, name: str, node: Node, parent: Part | None, *also: Node) -> Part:
        """Add a part; the nodes `also` belong to it, too."""
        line = node.span.line if node.span is not None else 0
        part = Part(kind, name, node, self.name, parent, order=len(self.parts), line=line)
        self.parts.append(part)
        for item in (node, *also):
            self.part_of.setdefault(item, part)
        return part

    def done(self, *, is_prim: bool) -> Outline:
        """Return the outline."""
        return Outline(self.name, tuple(self.parts), self.part_of, frozenset(self.callees), is_prim)


def family_of(operator: str) -> str:
    """Return the last word of an operator's name without a number behind it: `matmul` of `relax.matmul`, `matmul2`."""
    if operator.startswith("field "):
        return operator
    word = _COUNTED.sub("", _NO_LETTER.sub("_", operator.rpartition(".")[2])).strip("_")
    return _SAME_FAMILY.get(word, word)


def plain_name(name: str) -> str:
    """Return a name with what no name in Python may have replaced."""
    return _NO_LETTER.sub("_", name)


def bare_name(name: str) -> str:
    """Return a name without the number that a printer puts behind it where two are the same: `x` of `x_1`."""
    return _SUFFIX.sub("", name)


def ancestors(part: Part) -> Iterator[Part]:
    """Yield the parts that enclose a part, innermost first."""
    found = part.parent
    while found is not None:
        yield found
        found = found.parent
