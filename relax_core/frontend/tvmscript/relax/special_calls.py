"""Read calls whose arguments TVM places in a way of their own: devices by name, and assertions."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_core.frontend.tvmscript.names import dotted
from relax_core.frontend.tvmscript.relax.op_calls import call_operator
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.ir.expr import Call, Constant, Op, PrimValue
from relax_core.ir.prim import IntImm
from relax_core.ops.spec import OpSpec

_DEVICE_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "cpu": 1, "cuda": 2, "gpu": 2, "opencl": 4, "vulkan": 7, "metal": 8, "vpi": 9, "rocm": 10, "ext_dev": 12,
        "hexagon": 16, "webgpu": 15,
    }
)  # fmt: skip
"""The numbers by which DLPack knows devices."""
_HOMES = ("tvm", "R", "relax")


def read_device(reader: RelaxReader, node: ast.Call) -> Call | None:
    """Read `tvm.cuda(1)` or `R.cpu()` as `R.device(2, 1)`; `None` for another call."""
    match dotted(node.func):
        case (home, kind) if home in _HOMES and kind in _DEVICE_TYPES:
            pass
        case _:
            return None
    given = [*node.args, *(item.value for item in node.keywords)]
    match given:
        case []:
            number = 0
        case [ast.Constant(value=int(number))]:
            pass
        case _:
            raise reader.context.fail("PA006", node, f"`{kind}` takes the number of a device")
    span = reader.context.span(node)
    args = tuple(PrimValue(IntImm(item), span=span) for item in (_DEVICE_TYPES[kind], number))
    return Call(Op("relax.device", span=reader.context.span(node.func)), args, span=span)


def assertion(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read `R.assert_op(c, [x, y], "words {}")`: by position a list of values, then the format.

    As TVM prints it, the values may also stand one by one, with the format by name.
    """
    keywords = {item.arg: item for item in node.keywords}
    positional = list(node.args)
    if "format_args" in keywords:
        positional.insert(1, keywords.pop("format_args").value)
    if len(positional) == 3 and "format" not in keywords:
        keywords["format"] = ast.copy_location(ast.keyword("format", positional.pop()), node)
    match positional[1:]:
        case [ast.List(elts=items) | ast.Tuple(elts=items)]:
            positional[1:] = items
        case [ast.Constant(value=None)]:
            del positional[1]
        case _:
            pass
    call = ast.copy_location(ast.Call(node.func, positional, list(keywords.values())), node)
    return call_operator(reader, call, spec)


def take(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read `R.take(x, 1, axis=0)`: a bare index is a host scalar of 32 bits, as in TVM."""
    call = call_operator(reader, node, spec)
    indices = [*node.args[1:2], *(item.value for item in node.keywords if item.arg == "indices")]
    match indices, call.args:
        case [ast.Constant(value=int(index)) as place], (data, Constant(), *rest):
            span = reader.context.span(place)
            return replace(call, args=(data, PrimValue(IntImm(index, "int32"), span=span), *rest))
        case _:
            return call
