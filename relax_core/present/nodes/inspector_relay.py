"""The parts of the inspector that only Relay has: attributes, constructors, clauses, uses."""

from collections.abc import Iterator

from relax_core.diagnostics import plural
from relax_core.ir.expr import Call, Function, If, Op
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Clause, Constructor, Let, Match, Pattern
from relax_core.present.measures import cut
from relax_core.present.models import InspectorRow, Part
from relax_core.present.nodes.life import InspectorContext, callee_words, what_is

_USES_LIMIT = 50
_VALUE_COLUMNS = 80


def relay_facts(value: Node, context: InspectorContext) -> Iterator[InspectorRow]:
    """Yield what a Relay expression is made of, and the device and the type that the text notes."""
    if value in context.marks:
        words = (Part(context.marks[value], "code"), Part(" in the text", "muted"))
        yield InspectorRow("Marked", words)
    if value in context.noted:
        words = (Part(context.spell(context.noted[value]), "code"), Part(" in the text's comment", "muted"))
        yield InspectorRow("Noted type", words)
    match value:
        case Call(op=Op(name=name), attrs=attrs):
            yield InspectorRow("Operator", (Part(name, "code"),))
            for key, item in attrs:
                yield InspectorRow(key, (Part(cut(repr(item), _VALUE_COLUMNS), "code"),))
        case Call(op=Constructor() as constructor) | (Constructor() as constructor):
            fields = ", ".join(map(context.spell, constructor.field_types))
            shown = f"{constructor.name}({fields})" if fields else constructor.name
            yield InspectorRow("Constructor", (Part(shown, "code"), Part(f" of {constructor.type_name}", "muted")))
        case Match(clauses=clauses, is_complete=is_complete):
            words = "one is always taken" if is_complete else "perhaps none is taken"
            yield InspectorRow("Clauses", (Part(str(len(clauses))), Part(f", {words}", "muted")))
        case _:
            pass


def relay_uses(node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """List the expressions of the function that use the value of `node`."""
    if node not in context.index.place_of:
        return ()
    value = node.var if isinstance(node, Let) else node
    rows: list[InspectorRow] = []
    for item in context.index.nodes_of[context.index.function_of(node)]:
        count = sum(part is value for part in _read_by(item))
        if count == 0:
            continue
        title = f"let %{item.var.name}" if isinstance(item, Let) and item.value is value else _words(item)
        label = f"{title} ×{count}" if count > 1 else title
        line = context.line_of(item)
        part = Part(label, "code", node=context.index.id_of(item))
        rows.append(InspectorRow("", (part,), f"line {line}" if line else ""))
    more = len(rows) - _USES_LIMIT
    rest = (InspectorRow("", (Part(f"and {plural(more, 'more use')}", "muted"),)),) if more > 0 else ()
    return (*rows[:_USES_LIMIT], *rest)


def _read_by(item: Node) -> tuple[Node, ...]:
    """Return the parts whose values `item` reads; a `let` reads its value, its body is what follows."""
    match item:
        case Let(value=value, body=body):
            return value, *(() if isinstance(body, Let) else (body,))
        case Function(body=body):
            return (body,)
        case Pattern():
            return ()
        case _:
            return children(item)


def _words(item: Node) -> str:
    match item:
        case Function() | Let():
            return "result"
        case Clause() | If() | Match():
            return what_is(item)
        case _:
            return callee_words(item)
