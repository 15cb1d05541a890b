"""Read `R.emit_te(topi.add, x, y)`: the operator of the same meaning, which LegalizeOps makes a prim func of.

TVM runs the Python function when it reads the text, and has a `call_tir` of what it returns. TOPI's functions whose
arguments are those of an operator are known here; a lambda or function of the text is read as data, its `te.compute` as
prim funcs; any other function is Python, which is never run.
"""

import ast
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.names import dotted
from relax_core.frontend.tvmscript.relax.op_calls import call_operator
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.te import functions
from relax_core.ir.expr import Expr
from relax_core.ops import find

_SAME: Final = (
    "add", "subtract", "multiply", "divide", "floor_divide", "floor_mod", "power", "maximum", "minimum", "greater",
    "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
)  # fmt: skip
_UNARY: Final = (
    "abs", "ceil", "cos", "cosh", "erf", "exp", "floor", "log", "negative", "round", "rsqrt", "sigmoid", "sign", "sin",
    "sinh", "sqrt", "tan", "tanh", "acos", "acosh", "asin", "asinh", "atan", "atanh", "trunc", "isnan", "isinf",
    "isfinite", "logical_not", "bitwise_not", "nn.relu",
)  # fmt: skip
_OPERATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: f"{name} lhs:x1 rhs:x2" for name in _SAME},
        **{name: f"{name} x:{'data' if name == 'nn.relu' else 'x'}" for name in _UNARY},
        **{name: f"{name} data:x axis keepdims" for name in ("sum", "max", "min", "prod")},
        **{name: f"{name} x:data axis" for name in ("nn.softmax", "nn.log_softmax")},
        "matmul": "matmul a:x1 b:x2",
        "reshape": "reshape a:x newshape:shape",
        "squeeze": "squeeze a:x axis",
        "expand_dims": "expand_dims a:x axis",
        "broadcast_to": "broadcast_to data:x shape",
        "where": "where condition x:x1 y:x2",
        "transpose": "permute_dims a:x axes",
        "concatenate": "concat a_tuple:tensors axis",
        "stack": "stack tensors axis",
        "take": "take a:x indices axis",
        "strided_slice": "strided_slice a:x begin end strides axes",
        "split": "split ary:x indices_or_sections axis",
        "cast": "astype x dtype",
        "clip": "clip x a_min:min a_max:max",
        "tile": "tile a:data reps:repeats",
        "repeat": "repeat a:data repeats axis",
        "flip": "flip a:data axis",
        "full": "full shape dtype fill_value",
        "full_like": "full_like x fill_value",
        "gather": "gather_elements data axis indices",
        "cumsum": "cumsum data axis dtype exclusive",
        "collapse_sum": "collapse_sum_to data target_shape:shape",
        "nn.leaky_relu": "nn.leakyrelu t:data alpha",
        "nn.dense": "linear tensor_a:data tensor_b:weight bias out_dtype",
        "nn.layer_norm": "nn.layer_norm data gamma beta axis:axes epsilon",
        "nn.rms_norm": "nn.rms_norm data weight axis:axes epsilon",
        "nn.conv2d": "nn.conv2d data kernel:weight strides padding dilation data_layout kernel_layout out_dtype",
    }
)
"""TOPI's functions: the operator of the same meaning, and TOPI's parameters, `a:x` where the operator has another name.

Those whose results have another dtype (`argmax`, int32 there), or another meaning for some inputs (`mod`), are none.
"""
_OPTIONS: Final = ("primfunc_name_hint", "primfunc_attrs", "te_grad_name", "te_grad_kwargs")


def emitted(reader: RelaxReader, node: ast.Call) -> Expr:
    """Read a call of `R.emit_te`.

    Raises:
        Failed: PA004, the function is none of those that are known.
    """
    context = reader.context
    match dotted(node.args[0]) if node.args else None:
        case ("tvm", "topi", *rest) | ("topi", *rest):
            words = _OPERATORS.get(".".join(rest), "").split()
        case _:
            words = []
    spec = find(f"relax.{words[0]}") if words else None
    if spec is None and (function := _function(reader, node)) is not None:
        return _computed(reader, node, function)
    if spec is None:
        raise context.unsupported(node, *_refusal(node))
    if "emit_te" not in context.noted:
        context.noted.add("emit_te")
        message = f"`{source_of(node.args[0])}` is read as R.{words[0]}, which has the same values"
        context.report("PA037", node.args[0], message, severity="note")
    params = {name: ours or name for name, _, ours in (item.partition(":") for item in words[1:])}
    given = _given(reader, node, tuple(params))
    if words[0] == "strided_slice" and "axes" not in given:
        given["axes"] = _all_axes(reader, node, given.get("begin"))
    named = [ast.keyword(params[name], value) for name, value in given.items()]
    for item in named:
        ast.copy_location(item, item.value)
    return call_operator(reader, ast.copy_location(ast.Call(node.func, [], named), node), spec)


def _function(reader: RelaxReader, node: ast.Call) -> ast.Lambda | ast.FunctionDef | None:
    """Return the function of tensor expressions that a call names, `None` if the text has no such."""
    match node.args:
        case [ast.Lambda() as function, *_]:
            return function
        case [ast.Name(id=name), *_]:
            return reader.context.python.get(name)
        case _:
            return None


def _computed(reader: RelaxReader, node: ast.Call, function: ast.Lambda | ast.FunctionDef) -> Expr:
    """Read a call of a function whose text is at hand."""
    context = reader.context
    if "emit_te of Python" not in context.noted:
        context.noted.add("emit_te of Python")
        message = f"`{source_of(node.args[0])}` is read as prim funcs and operators of the same values, and not run"
        context.report("PA037", node.args[0], message, severity="note")
    hints = [item.value for item in node.keywords if item.arg == "primfunc_name_hint"]
    said = [str(item.value) for item in hints if isinstance(item, ast.Constant)]
    name = said[0] if said else "te_lambda" if isinstance(function, ast.Lambda) else function.name
    inner = replace(reader, scope=reader.scope.inner())
    return functions.TeFunction(inner, name, emitted).called(function, node, node.args[1:])


def _refusal(node: ast.Call) -> tuple[str, str]:
    """Return what is not read, and what can be done."""
    what = f"`{source_of(node.func)}`"
    match node.args:
        case [function, *_] if isinstance(function, ast.Lambda) or "compute" in source_of(function):
            what += f" of the tensor expression `{source_of(function)}`"
        case [function, *_] if (dotted(function) or ("",))[0] in ("topi", "tvm"):
            what += f" of `{source_of(function)}`, for which there is no operator of the same values here,"
        case [function, *_]:
            what += f" of `{source_of(function)}`, a Python function,"
        case _:
            pass
    return what, "it runs Python, which makes a prim func; print the module with TVM and open what it prints"


def _given(reader: RelaxReader, node: ast.Call, params: tuple[str, ...]) -> dict[str, ast.expr]:
    """Return the arguments of a TOPI function by the names of its parameters.

    Raises:
        Failed: PA004 for an argument without a meaning for the operator, PA006 for one that is given twice.
    """
    given = dict(zip(params, node.args[1:], strict=False))
    more = list(node.args[1 + len(params) :])
    for item in node.keywords:
        if item.arg in _OPTIONS:
            continue
        if item.arg in given:
            message = f"`{item.arg}` of `{source_of(node.args[0])}` is given by its place and by its name"
            raise reader.context.fail("PA006", item.value, message, "remove one of them")
        if item.arg in params:
            given[item.arg] = item.value
        else:
            more.append(item.value)
    if more:
        what = f"the argument `{source_of(more[0])}` of `{source_of(node.args[0])}`"
        raise reader.context.unsupported(more[0], what, f"of its parameters {', '.join(params)} are read")
    return given


def _all_axes(reader: RelaxReader, node: ast.Call, begin: ast.expr | None) -> ast.expr:
    """Without axes TOPI slices the first ones, as many as there are begins."""
    match begin:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            axes = [ast.copy_location(ast.Constant(axis), begin) for axis in range(len(items))]
            return ast.copy_location(ast.List([*axes], ast.Load()), begin)
        case _:
            raise reader.context.unsupported(node, f"`{source_of(node.args[0])}` without axes, whose begin is no list")
