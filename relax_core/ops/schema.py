"""Parameters that many operators share."""

from relax_core.ops.spec import OMITTED, Param

X = Param("x", "tensor")
DATA = Param("data", "tensor")
SHAPE = Param("shape", "shape")
DTYPE = Param("dtype", "dtype")
OPTIONAL_DTYPE = Param("dtype", "dtype", default=None)
AXES = Param("axis", "axes", default=None)
KEEPDIMS = Param("keepdims", "prim", "bool", default=False)
LAST_AXIS = Param("axis", "prim", "int64", default=-1)
FORMAT = Param("format", "prim", "string", default="", is_keyword=True)
FUNCTION = Param("func", "func")
ARGUMENTS = Param("args", "tuple")
MORE_ARGUMENTS = Param("args", "expr", is_variadic=True)
INPLACE_INDICES = Param("inplace_indices", "axes", is_keyword=True)
TIR_VARS = Param("tir_vars", "shape", default=OMITTED, is_keyword=True)
STORAGE_SCOPE = Param("storage_scope", "prim", "string", default="global")
DEVICE_INDEX = Param("runtime_device_index", "prim", "int64", default=0)

UNARY = (X,)
BINARY = (Param("x1", "tensor"), Param("x2", "tensor"))
