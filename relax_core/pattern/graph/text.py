"""Patterns of several bindings as text: the lines of a pattern context, read and never executed.

    x = wildcard()
    first = is_op("relax.matmul")(x, wildcard())
    second = is_op("relax.matmul")(x, wildcard())
    second >> is_op("relax.nn.relu")(wildcard(), add_constraint=False)

A line binds a name, says an edge, or a constraint. Each argument of a call pattern is used by it, at its index, unless
`add_constraint=False` says otherwise.
"""

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from relax_core.pattern.graph.context import PatternContext
from relax_core.pattern.language.edges import PatternSeq
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.language.text import PatternParser, parsed, too_deep

Item = Pattern | PatternSeq
_JOINS: Mapping[type[ast.operator], Callable[[Item, Item], PatternSeq]] = MappingProxyType(
    {ast.BitXor: lambda a, b: a.used_by(b), ast.RShift: lambda a, b: a.only_used_by(b)}
)
_EDGES: Mapping[str, Callable[[Item, Item, int], PatternSeq]] = MappingProxyType(
    {
        "used_by": lambda a, b, index: a.used_by(b, index),
        "only_used_by": lambda a, b, index: a.only_used_by(b, index),
    }
)
_LEAST_INDEX = -1


def says_edges(text: str) -> bool:
    """Tell whether some line of a text of patterns is an edge or a constraint: then it is of several bindings."""
    try:
        body = ast.parse(text.strip() and text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return any(isinstance(line, ast.Expr | ast.Assign) and _is_edge(line.value) for line in body)


def _is_edge(tree: ast.expr) -> bool:
    match tree:
        case ast.BinOp(op=operator):
            return type(operator) in _JOINS
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in (*_EDGES, "fork_to", "same_shape_as")
        case _:
            return False


def parse_graph(text: str, name: str = "graph pattern") -> PatternContext:
    """Read the lines of a pattern context.

    Raises:
        CompileError: PT001 to PT003, PT010, PT011 for a text without an edge.
    """
    source, tree = parsed(text, name)
    with PatternContext() as context:
        try:
            return _GraphParser(source).graph(tree, context)
        except (MemoryError, RecursionError) as error:
            raise too_deep(source) from error


class _GraphParser(PatternParser):
    """Reads one text, while its context is open; `_sequences` are the chains bound so far."""

    _sequences: dict[str, PatternSeq]

    def graph(self, tree: ast.Module, context: PatternContext) -> PatternContext:
        """Read all lines."""
        self._sequences = {}
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._bind(name, self._item(value))
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr="fork_to")) as call):
                    first = self._node(value)
                    for item in self._arguments(call):
                        first.used_by(item)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr="same_shape_as")) as call):
                    self._node(value).same_shape_as(*map(self._node, call.args))
                case ast.Expr(value=value):
                    self._item(value)
                case _:
                    self._fail("PT002", "a line is `name = pattern`, an edge or a constraint", statement)
        if not context.edges:
            hint = "say a.used_by(b), a ^ b or a >> b, or give a call pattern its arguments"
            self._fail("PT011", "no edge joins the patterns", tree, hint)
        context.named = dict(self._names)
        context.text = self.source.text
        return context

    def _bind(self, name: str, item: Item) -> None:
        self._sequences.pop(name, None)
        self._names.pop(name, None)
        if isinstance(item, PatternSeq):
            self._sequences[name] = item
        else:
            self._names[name] = item

    def _item(self, tree: ast.expr) -> Item:
        """Read a pattern or a chain of them."""
        match tree:
            case ast.Name(id=name) if name in self._sequences:
                return self._sequences[name]
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _JOINS:
                return _JOINS[type(operator)](self._item(left), self._item(right))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _EDGES:
                return self._edge(tree, self._item(value), _EDGES[attr])
            case ast.Call(func=ast.Attribute(value=value, attr="dup"), args=[], keywords=[]):
                return self._item(value).dup()
            case ast.Subscript(value=ast.Name(id=name), slice=place) if name in self._sequences:
                return self._element(tree, self._sequences[name], place)
            case _:
                return self.pattern(tree)

    def _node(self, tree: ast.expr) -> Pattern:
        item = self._item(tree)
        if isinstance(item, Pattern):
            return item
        return self._fail("PT003", "a chain of patterns stands where one is wanted", tree)

    def _arguments(self, call: ast.Call) -> list[Item]:
        if call.keywords or not call.args:
            self._fail("PT003", "it takes one or more patterns", call)
        return [self._item(item) for item in call.args]

    def _edge(self, tree: ast.Call, first: Item, join: Callable[[Item, Item, int], PatternSeq]) -> PatternSeq:
        match tree.args, tree.keywords:
            case [other], []:
                return join(first, self._item(other), _LEAST_INDEX)
            case ([other, index], []) | ([other], [ast.keyword(arg="index", value=index)]):
                return join(first, self._item(other), self._index(index))
            case _:
                return self._fail("PT003", "an edge takes a pattern and the index of an argument", tree)

    def _index(self, tree: ast.expr) -> int:
        try:
            value: object = ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError):
            value = None
        if isinstance(value, int) and not isinstance(value, bool) and value >= _LEAST_INDEX:
            return value
        return self._fail("PT003", "the index of an argument is 0 or more, or -1 for any", tree)

    def _element(self, tree: ast.Subscript, chain: PatternSeq, place: ast.expr) -> Item:
        match place:
            case ast.Constant(value=int(index)) if index < len(chain.patterns):
                found = chain[index]
                assert isinstance(found, Pattern), "chains are of patterns"
                return found
            case _:
                return self._fail("PT003", f"the chain has {len(chain.patterns)} patterns", tree)
