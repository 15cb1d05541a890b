"""Facts about a prim func as a whole that its statements are read by: its dialect and its variables."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Buffer

_OLD = ("block", "block_attr", "LetStmt", "Block")
_LATEST = ("sblock", "sblock_alloc_buffer", "sblock_attr", "let", "bind", "Bind", "alloc_local", "alloc_shared", "view",
           "decl_scalar")  # fmt: skip
_INDEXED = re.compile(r"(?<![\w.])([^\W\d]\w*)(?:\[|\.data\b)")
_WORDS = re.compile(rf"\.({'|'.join((*_OLD, *_LATEST))})\b")


@dataclass(slots=True)
class PrimFuncTraits:
    """What is known of the whole function.

    In the dialect of 2026 (`is_latest`) `x: T.int32 = 1` is a variable that can be assigned again, and
    `T.alloc_buffer` a statement; before, they are a let and, where there are blocks, a buffer of the block. `is_s_tir`
    tells that the function has blocks or says that it may. `reassigned` are the names that several lists of statements
    assign; `indexed` those with an index or `.data` behind them, where the function says `T.allocate`; `scalars` the
    buffers that the text calls variables; `threads` the tags of the variables that `T.env_thread` makes, and `extents`
    how many threads they were first launched with; `expanded` counts the statements that calls of macros have made.
    """

    is_latest: bool = False
    has_blocks: bool = False
    is_s_tir: bool = False
    reassigned: frozenset[str] = frozenset()
    indexed: frozenset[str] = frozenset()
    scalars: set[Buffer] = field(default_factory=set[Buffer])
    threads: dict[PrimVar, str] = field(default_factory=dict[PrimVar, str])
    extents: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])
    expanded: int = 0


def facts_of(node: ast.FunctionDef, text: str, *, is_tirx: bool = False) -> PrimFuncTraits:
    """Look through a function once; `text` is its source, and `is_tirx` tells that the file imports `tirx`."""
    words = frozenset(_WORDS.findall(text))
    decorators = [item for item in node.decorator_list if isinstance(item, ast.Call)]
    says_s_tir = any(keyword.arg == "s_tir" for item in decorators for keyword in item.keywords)
    is_old = any(word in words for word in _OLD)
    is_latest = not is_old and (is_tirx or says_s_tir or any(word in words for word in _LATEST))
    has_blocks = "block" in words
    indexed = frozenset(_INDEXED.findall(text)) if "allocate" in text else frozenset[str]()
    return PrimFuncTraits(
        is_latest, has_blocks, says_s_tir or has_blocks or "sblock" in words, _reassigned(node), indexed
    )


def _reassigned(node: ast.FunctionDef) -> frozenset[str]:
    """Return the names that are assigned in more than one list of statements."""
    place: dict[str, int] = {}
    found: set[str] = set()
    stack: list[Sequence[ast.stmt]] = [node.body]
    while stack:
        statements = stack.pop()
        for statement in statements:
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                    | ast.AugAssign(target=ast.Name(id=name))
                ):
                    if place.setdefault(name, id(statements)) != id(statements):
                        found.add(name)
                case ast.For() | ast.While() | ast.If():
                    stack += [statement.body, statement.orelse]
                case ast.With():
                    stack.append(statement.body)
                case _:
                    pass
    return frozenset(found)
