"""Read assertions."""

import ast

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.ir.tir import AssertStmt, Stmt


def read_assertion(reader: TirReader, statement: ast.stmt, test: ast.expr, message: ast.expr | None) -> Stmt:
    """Read an assertion with the message "words", or as in 2026 ("RuntimeError", ["words"])."""
    span = reader.context.span(statement)
    condition = reader.read(test)
    match message:
        case None:
            return AssertStmt(condition, "", span=span)
        case ast.Constant(value=str(text)):
            return AssertStmt(condition, text, span=span)
        case ast.Tuple(elts=[ast.Constant(value=str(kind)), ast.List(elts=items) | ast.Tuple(elts=items)]):
            parts = tuple(_part(reader, item) for item in items)
            return AssertStmt(condition, "".join(parts), kind, parts if len(parts) != 1 else (), span=span)
        case _:
            raise reader.context.fail("PA006", message, "the message of an assertion is a string")


def _part(reader: TirReader, node: ast.expr) -> str:
    """Read a piece of a message; one that stands in metadata, which the text does not hold, stays as written."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Subscript():
            message = f"`{source_of(node)}` is not in the text"
            reader.context.report("PA031", node, message, "print it with show_meta=True", "warning")
            return ast.unparse(node)
        case _:
            raise reader.context.fail("PA006", node, "the message of an assertion is made of strings")
