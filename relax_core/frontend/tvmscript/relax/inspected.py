"""Read what a text of 2025 asks of a tensor at run time: `x.dtype.bits`, `x.ndim`, `x.strides[0]`, `x.byte_offset`.

TVM makes a call of an operator `R.inspect.tensor_...` of each. What the declared type tells is not asked at run time.
"""

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.relax.op_calls import call_operator
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.variable_parts import known_type
from relax_core.ir.expr import Call, TensorType, Var
from relax_core.ops import find

_OF_DTYPE: Final[Mapping[str, str]] = MappingProxyType(
    {"type_code": "tensor_dtype_code", "bits": "tensor_dtype_bits", "lanes": "tensor_dtype_lanes"}
)
_OF_LISTS: Final[Mapping[str, str]] = MappingProxyType({"shape": "tensor_shape_i", "strides": "tensor_stride_i"})
_OF_TENSOR: Final[Mapping[str, str]] = MappingProxyType(
    {"ndim": "tensor_ndim", "byte_offset": "tensor_byte_offset", "elem_offset": "tensor_elem_offset"}
)


def inspected(reader: RelaxReader, node: ast.Attribute | ast.Subscript) -> Call | None:
    """Return the call that asks a tensor for what `node` wants to know of it; `None` for another expression."""
    match node:
        case ast.Attribute(value=ast.Attribute(value=ast.Name() as name, attr="dtype"), attr=part):
            operator, more = _OF_DTYPE.get(part), []
        case ast.Attribute(value=ast.Name() as name, attr=part):
            operator, more = _OF_TENSOR.get(part), []
        case ast.Subscript(value=ast.Attribute(value=ast.Name() as name, attr=part), slice=index):
            operator, more = _OF_LISTS.get(part), [index]
        case _:
            return None
    found = reader.scope.find(name.id)
    spec = None if operator is None else find(f"relax.inspect.{operator}")
    if spec is None or not isinstance(found, Var):
        return None
    match operator, known_type(reader.prims, found):
        case ("tensor_shape_i", TensorType(shape=told)) | ("tensor_ndim", TensorType(ndim=told)) if told is not None:
            return None
        case _, TensorType() | None:
            return call_operator(reader, ast.copy_location(ast.Call(node, [name, *more], []), node), spec)
        case _:
            return None
