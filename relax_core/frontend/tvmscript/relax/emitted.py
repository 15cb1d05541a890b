"""Read `R.emit_te(topi.add, x, y)`: the operator of the same meaning, which LegalizeOps makes a prim func of.

TVM runs the Python function when it reads the text, and has a `call_tir` of what it returns. TOPI's functions whose
arguments are those of an operator are known here; any other function is Python, which is never run.
"""

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.names import dotted
from relax_core.frontend.tvmscript.relax.op_calls import call_operator
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.ir.expr import Call
from relax_core.ops import find

_SAME: Final = (
    "add", "subtract", "multiply", "divide", "floor_divide", "power", "maximum", "minimum", "greater", "greater_equal",
    "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not", "abs", "ceil", "cos",
    "cosh", "erf", "exp", "floor", "log", "negative", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan",
    "tanh", "matmul", "sum", "max", "min", "prod", "reshape", "squeeze", "expand_dims", "broadcast_to", "where",
    "nn.relu", "nn.softmax", "nn.log_softmax",
)  # fmt: skip
_OPERATORS: Final[Mapping[str, str]] = MappingProxyType({**{name: name for name in _SAME}, "transpose": "permute_dims"})
_OPTIONS: Final = ("primfunc_name_hint", "primfunc_attrs", "te_grad_name", "te_grad_kwargs")


def emitted(reader: RelaxReader, node: ast.Call) -> Call:
    """Read a call of `R.emit_te`.

    Raises:
        Failed: PA004, the function is none of those that are known.
    """
    context = reader.context
    match dotted(node.args[0]) if node.args else None:
        case ("tvm", "topi", *rest) | ("topi", *rest):
            name = _OPERATORS.get(".".join(rest))
        case _:
            name = None
    spec = None if name is None else find(f"relax.{name}")
    if spec is None:
        hint = "it runs Python, which makes a prim func; print the module with TVM and open what it prints"
        what = f"`{source_of(node.func)}`" + (f" of `{source_of(node.args[0])}`" if node.args else "")
        raise context.unsupported(node, what, hint)
    if "emit_te" not in context.noted:
        context.noted.add("emit_te")
        message = f"`{source_of(node.args[0])}` is read as R.{name}, which has the same values"
        context.report("PA037", node.args[0], message, severity="note")
    named = [item for item in node.keywords if item.arg not in _OPTIONS]
    return call_operator(reader, ast.copy_location(ast.Call(node.func, node.args[1:], named), node), spec)
