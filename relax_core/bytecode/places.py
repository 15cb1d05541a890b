"""The place in the text of what has no node of its own: the end of a function or of a branch."""

import re

from relax_core.ir.expr import Expr, SeqExpr, VarBinding
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.source import Span

_GRAPH_VARIABLE = re.compile(r" *%\w+ = ")


def result_node(body: Expr, log: RewriteLog) -> Node:
    """Return a node that stands for the result of `body`, at the last statement of the text that `body` stems from.

    A variable that is returned is the node of its definition, which stands elsewhere.
    """
    span = log.locate(body)
    if span is None or not isinstance(body, SeqExpr):
        return body.body if isinstance(body, SeqExpr) else body
    result = SeqExpr((), body.body, span=last_statement(span))
    log.derive(result, (body, body.body))
    return result


def parts(node: Node) -> tuple[Node, ...]:
    """Return a node of the line table and what it computes: a value stems from more than its binding does."""
    return (node, node.value) if isinstance(node, VarBinding) else (node,)


def last_statement(span: Span) -> Span:
    """Return the last of the statements that `span` covers: it begins where the first one does, columns counted.

    The first one may be a graph variable of Relay, `%0 = value`, whose span is that of the value.
    """
    source, indent = span.source, span.column
    head = source.line_text(span.line)[: indent - 1]
    if _GRAPH_VARIABLE.fullmatch(head):
        indent = len(head) - len(head.lstrip()) + 1
    last_line = source.line_column(max(span.start, span.end - 1))[0]
    for line in range(last_line, span.line, -1):
        text = source.line_text(line)
        stripped = text.lstrip()
        if stripped and stripped[0] not in "#)]}" and len(text) - len(stripped) + 1 == indent:
            return Span(source, source.offset(line, indent), span.end)
    return span
