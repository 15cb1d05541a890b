"""Relay expressions to match patterns against."""

from relax_core import parse
from relax_core.ir.expr import Expr, Function
from relax_core.ir.module import IRModule

PARAMS = (
    "%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32], %b: Tensor[(4), float32], %c: bool, "
    "%t: (Tensor[(4, 4), float32], Tensor[(2), int32]), %data: Tensor[(1, 4, 8, 8), float32], "
    "%w: Tensor[(4, 4, 3, 3), float32], %f: fn (Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32]"
)


def module(body: str) -> IRModule:
    """Return a module whose `main` has the parameters of `PARAMS` and this body."""
    return parse(f'#[version = "0.0.5"]\ndef @main({PARAMS}) {{\n{body}\n}}\n', "m.relay")


def body(text: str) -> Expr:
    """Return the expression that the body of `module(text)` is."""
    return main(module(text)).body


def main(mod: IRModule) -> Function:
    function = mod["main"]
    assert isinstance(function, Function)
    return function
