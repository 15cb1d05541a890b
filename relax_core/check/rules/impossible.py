"""Types of tensors that no machine can hold: negative sizes, too many axes or elements, dtypes that do not exist."""

import math
import re
from collections.abc import Iterator, Mapping

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.tvmscript.names import dtype_suggestion
from relax_core.ir.expr import Call, Expr, Function, Op, TensorType, TupleType, Type, Var
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import AnyDim, Binary, IntImm, PrimExpr, PrimVar, bits_of, is_dtype, lanes_of
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.source import Span

MAX_RANK = 64
"""NumPy, which holds the tensors, has no more axes."""
MAX_SIZE = (1 << 63) - 1
"""Sizes and counts of bytes are int64."""
_CERTAIN = MAX_SIZE // 512
"""Of so many elements the bytes can be counted, whatever the dtype."""
_DIVISIONS = ("//", "%", "truncdiv", "truncmod")
_WINDOWED = ("conv", "pool", "window", "unfold", "correlation", "dilation2d")
_QUOTED = re.compile(r"'([^']*)'")

Problem = tuple[str, str]
"""A code, and what is wrong in words."""


def impossible_types(types: Mapping[Node, Type]) -> Iterator[Diagnostic]:
    """Yield the tensors among inferred types that cannot exist, where each of them first appears.

    What is computed from such a tensor is not reported again. Complexity: linear in the number of types.
    """
    suspects = {type_ for type_ in set(types.values()) if _problem_of(type_) or _problem_of_dtype(type_)}
    told: set[Problem] = set()
    for node, type_ in types.items() if suspects else ():
        if type_ not in suspects:
            continue
        problem = _problem_of(type_) or (_problem_of_dtype(type_) if isinstance(node, Call) else None)
        if problem is None:
            suspects.remove(type_)
        elif isinstance(node, Expr) and not isinstance(node, Function) and problem not in told:
            told.add(problem)
            yield _diagnostic(node, problem)


def impossible_buffers(prim_func: PrimFunc) -> Iterator[Diagnostic]:
    """Yield the buffers of a prim func that cannot exist, each once."""
    seen: set[Node] = set()
    for node in preorder(prim_func):
        if isinstance(node, Buffer) and node not in seen:
            seen.add(node)
            problem = problem_of_tensor(node.shape, node.dtype)
            if problem is not None:
                span = node.span if node.span is not None else prim_func.span
                yield Diagnostic(problem[0], f"the buffer {node.name} has {problem[1]}", span)


def _diagnostic(node: Expr, problem: Problem) -> Diagnostic:
    code, words = problem
    match node:
        case Var(name=name):
            return Diagnostic(code, f"{name} has {words}", node.span, "write a size that a tensor can have")
        case Call(op=Op(name=name)):
            short = name.removeprefix("relax.")
            is_windowed = code == "TY074" and any(word in name for word in _WINDOWED)
            hint = "the window is larger than the padded input: pad more, or take a smaller one" if is_windowed else ""
            found = f"{short} gives a tensor with {words}"
            return _misspelt(node, found) if code == "TY080" else Diagnostic(code, found, node.span, hint)
        case _:
            return Diagnostic(code, f"this is a tensor with {words}", node.span)


def _misspelt(node: Expr, words: str) -> Diagnostic:
    """Say that there is no such dtype where the call names it, with the one that may be meant."""
    quoted = _QUOTED.findall(words)
    text = node.span.text if node.span is not None else ""
    named = [item for item in (f'"{name}"' for name in quoted) if text.count(item) == 1]
    if node.span is None or len(named) != 1:
        return Diagnostic("TY080", words, node.span)
    start = node.span.start + text.index(named[0])
    place = Span(node.span.source, start, start + len(named[0]))
    return Diagnostic("TY080", words, place, dtype_suggestion(named[0].strip('"'), named[0]))


def _problem_of(type_: Type) -> Problem | None:
    stack = [type_]
    while stack:
        match stack.pop():
            case TensorType() as tensor:
                problem = problem_of_tensor(tensor.dims, tensor.dtype, tensor.ndim)
                if problem is not None:
                    return problem
            case TupleType(fields=fields):
                stack.extend(fields)
            case _:
                pass
    return None


def _problem_of_dtype(type_: Type) -> Problem | None:
    """Return why no operator gives a tensor of this dtype."""
    dtype = type_.dtype if isinstance(type_, TensorType) else None
    if dtype in (None, "", "void") or dtype.startswith("custom["):
        return None
    if is_dtype(dtype) and lanes_of(dtype) == 1 and dtype != "handle":
        return None
    why = "it stands in prim funcs only" if is_dtype(dtype) else "there is no dtype of this name"
    return "TY080", f"the dtype {dtype!r}; {why}"


def problem_of_tensor(dims: tuple[PrimExpr, ...] | None, dtype: str | None, ndim: int | None = None) -> Problem | None:
    """Return why there is no tensor of these sizes and this dtype; `None` if there may be one."""
    rank = len(dims) if dims is not None else ndim or 0
    if rank > MAX_RANK:
        return "TY075", f"{rank:,} axes; a tensor has at most {MAX_RANK}"
    known: list[int] = []
    for axis, dim in enumerate(dims or ()):
        if isinstance(dim, PrimVar | AnyDim):
            continue
        if not isinstance(dim, IntImm) and _is_undefined(dim):
            return "TY077", f"a size at axis {axis} that is divided by zero"
        size = dim.value if isinstance(dim, IntImm) else constant_value(dim)
        if size is None:
            continue
        if size < 0:
            return "TY074", f"the size {size} at axis {axis}; a size is not negative"
        if size > MAX_SIZE:
            return "TY076", f"the size {size} at axis {axis}, which does not fit 64 bits"
        known.append(size)
    count = math.prod(known)
    if count > _CERTAIN and count * max(1, bits_of(dtype or "") // 8) > MAX_SIZE:
        return "TY076", f"{count:,} elements, whose bytes cannot be counted in 64 bits"
    return None


def _is_undefined(dim: PrimExpr) -> bool:
    """Tell whether a size divides by a zero that is written out."""
    for part in preorder(dim):
        match part:
            case Binary(op=op, b=IntImm(value=0)) if op in _DIVISIONS:
                return True
            case _:
                pass
    return False
