"""The names that a program defines, with what the checker knows of them: for completion, hovers and definitions."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Type, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import type_nodes
from relax_core.present.models import NameFact
from relax_core.present.words import dtype_text, type_text
from relax_core.source import Source

_LIMIT = 2_000
"""Of a longer program the first names are known: all of them would weigh as much as its text."""


def names_of(source: Source, module: IRModule, types: Mapping[Node, Type]) -> tuple[NameFact, ...]:
    """List the names that a module defines in its text, function by function.

    A function is known in all of the text; a variable or a dimension from the first line of its function to the line
    before the next one. A dimension has no place of its own.
    """
    return tuple(islice(_names(source, module, types), _LIMIT))


def _names(source: Source, module: IRModule, types: Mapping[Node, Type]) -> Iterator[NameFact]:
    local, shared = ("%", "@") if dialect_of(module) == "relay" else ("", "")
    here = sorted(
        ((line, definition) for definition in module if (line := _line_in(source, definition.function))),
        key=lambda found: found[0],
    )
    lines = (*(line for line, _ in here), source.line_count + 1)
    for (line, definition), after in zip(here, lines[1:], strict=True):
        name = shared + definition.var.name
        type_ = types.get(definition.var) or types.get(definition.function)
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source.line_text(line))
        column = found.start() + 1 if found is not None else 1
        yield NameFact(name, "function", type_text(type_), line, column, 1, source.line_count)
        yield from _locals(source, definition, types, local, (line, after - 1))


def _locals(
    source: Source, definition: Definition, types: Mapping[Node, Type], sign: str, scope: tuple[int, int]
) -> Iterator[NameFact]:
    dimensions: dict[str, NameFact] = {}
    for node in preorder(definition.function):
        # A statement for its effect binds a variable that the text does not name.
        if not isinstance(node, Var) or node.name == "_" or not (line := _line_in(source, node)):
            continue
        type_ = types.get(node) or node.annotation
        column = node.span.column if node.span is not None else 1
        yield NameFact(sign + node.name, "variable", type_text(type_), line, column, *scope)
        for part in type_nodes(type_):
            if isinstance(part, PrimVar):
                dimensions[part.name] = NameFact(part.name, "dimension", dtype_text(part.dtype), 0, 0, *scope)
    yield from dimensions.values()


def _line_in(source: Source, node: Node) -> int:
    """Return the line of a node in a text, 0 if it stems from another one."""
    return node.span.line if node.span is not None and node.span.source is source else 0
