"""Titles of data-flow nodes, and reachability."""

from collections.abc import Callable, Iterator

from relax_core.ir.absent import NO_VALUE, reference_of
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    Var,
)
from relax_core.ir.relay import Constructor
from relax_core.present.drawings.drawing import DrawEdge, Look
from relax_core.present.words import dims_text, prim_text


def call_words(call: Call) -> tuple[Look, str, str, tuple[Expr, ...]]:
    """Return style, tag and title of a call, and the arguments that get an edge."""
    match call:
        case Call(op=Op(name="relax.call_tir" | "relax.call_tir_inplace"), args=(GlobalVar(name=name), *args)):
            return "tir", "TIR", name, tuple(args)
        case Call(op=Op(name="relax.call_dps_packed"), args=(ExternFunc(name=name), *args)):
            return "dps", "DPS", f'"{name}"', tuple(args)
        case Call(
            op=Op(name="relax.call_pure_packed" | "relax.call_inplace_packed"), args=(ExternFunc(name=name), *args)
        ):
            return "packed", "PKD", f'"{name}"', tuple(args)
        case Call(op=ExternFunc(name=name), args=args):
            return "packed", "PKD", f'"{name}"', args
        case Call(op=Op(name="relax.make_closure"), args=(GlobalVar(), *args)):
            return "closure", "λ", "make_closure", tuple(args)
        case Call(op=Op(name=name)) if name == NO_VALUE:
            return "op", "", "no value", ()
        case Call(op=Op(name=name), args=args):
            return "op", "", name.removeprefix("relax."), args
        case Call(op=GlobalVar(name=name), args=args):
            return "call", "fn", name, args
        case Call(op=Constructor(name=name), args=args):
            return "call", "new", name, args
        case Call(op=Var(name=name), args=args):
            return "call", "fn", f"{name}()", args
        case _:
            return "call", "fn", "call", (call.op, *call.args)


def name_of(value: Expr) -> str:
    """Return a variable's name, or a literal as it is printed; "value" for all else."""
    return value.name if isinstance(value, Var) else literal(value) or "value"


def literal(value: Expr) -> str:
    """Print a value that needs no computation; empty for others."""
    match value:
        case Constant() if (reference := reference_of(value)) is not None:
            return reference
        case Constant(data=data):
            return str(data.item()) if data.ndim == 0 else f"const {tuple(data.shape)}"
        case PrimValue(value=inner):
            return prim_text(inner)
        case ShapeExpr(values=values):
            return dims_text(values)
        case DataTypeImm(value=name):
            return name
        case ExternFunc(name=name):
            return f'"{name}"'
        case Op(name=name):
            return name
        case Constructor(name=name) | Call(op=Constructor(name=name), args=()):
            return name
        case Null():
            return "null"
        case Tuple(fields=()):
            return "()"
        case _:
            return ""


def reachability(edges: tuple[DrawEdge, ...]) -> Callable[[str, str], bool]:
    """Return a predicate that tells whether one key reaches another."""
    after: dict[str, list[str]] = {}
    for edge in edges:
        after.setdefault(edge.source, []).append(edge.target)

    def below(key: str) -> Iterator[str]:
        seen = {key}
        stack = [key]
        while stack:
            for target in after.get(stack.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
                    yield target

    return lambda a, b: any(item == b for item in below(a)) or any(item == a for item in below(b))
