"""Pipelines as of the time of their bugs: the option of each pass that had one that was reported."""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

AS_REPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {"LambdaLift": "names='2022'", "PlanDevices": "as_in='reported'", "AnnotateTarget": "lets='reported'"}
)
"""The option with which a pass does what it did when its bug was reported."""


def as_reported(pipeline: str) -> str:
    """Return a pipeline whose passes have the bugs that were reported; an option that it gives itself stays.

    A text that is no pipeline stays as it is: who reads it says what is wrong with it.
    """
    try:
        tree = ast.parse(f"(\n{pipeline}\n,)", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return pipeline
    lines = [line.encode() for line in pipeline.split("\n")]
    for line, column, added in sorted(_insertions(tree), reverse=True):
        # The pipeline stands one line lower in what was parsed.
        text = lines[line - 2]
        lines[line - 2] = text[:column] + added.encode() + text[column:]
    return b"\n".join(lines).decode()


def _insertions(tree: ast.expr) -> Iterator[tuple[int, int, str]]:
    """List what is added behind which line and byte."""
    for item in tree.elts if isinstance(tree, ast.Tuple) else ():
        name = item.func if isinstance(item, ast.Call) else item
        word = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
        option = AS_REPORTED.get(word)
        if option is None:
            continue
        match item:
            case ast.Call(args=[], keywords=keywords, end_lineno=int(line), end_col_offset=int(column)):
                if any(keyword.arg == option.partition("=")[0] for keyword in keywords):
                    continue
                first = keywords[0] if keywords else None
                if first is None:
                    yield line, column - 1, option
                else:
                    yield first.lineno, first.col_offset, f"{option}, "
            case (
                ast.Name(end_lineno=int(line), end_col_offset=int(column))
                | ast.Attribute(end_lineno=int(line), end_col_offset=int(column))
            ):
                yield line, column, f"({option})"
            case _:
                pass
