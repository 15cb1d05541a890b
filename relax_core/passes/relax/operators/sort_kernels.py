"""Kernels that sort by a function of TVM's runtime."""

from collections.abc import Callable, Sequence

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.prim import FloatImm, IntImm, Intrinsic, PrimExpr, PrimVar, StringImm, const, dtype_of
from relax_core.ir.tir import Block, Buffer, BufferParam, BufferRef, Evaluate, PrimFunc, Stmt
from relax_core.ops.attributes import flag_at, word_at
from relax_core.ops.kernels.scalar import lit
from relax_core.ops.operands import int_at
from relax_core.ops.spec import Legalize, Legalized

Options = Callable[[Call, tuple[Type, ...]], tuple[PrimExpr, ...]]


def own_dims(dims: Sequence[PrimExpr]) -> dict[PrimExpr, PrimExpr] | None:
    """Return for each dimension what it is in a kernel, `None` if one is neither a number nor a symbol."""
    if not all(isinstance(dim, IntImm | PrimVar) for dim in dims):
        return None
    return {dim: PrimVar(dim.name, dim.dtype) if isinstance(dim, PrimVar) else dim for dim in dims}


def results_of(out: Type) -> tuple[TensorType, ...]:
    """Return the types of what a call gives, none if one is no tensor of a known shape."""
    types = out.fields if isinstance(out, TupleType) else (out,)
    known = tuple(item for item in types if isinstance(item, TensorType) and item.dims is not None and item.dtype)
    return known if len(known) == len(types) else ()


def kernel(name: str, buffers: Sequence[Buffer], body: Stmt, call: Call, results: tuple[TensorType, ...]) -> Legalized:
    """Return the kernel of a call with one input, whose buffers are the input and the results."""
    params = tuple(BufferParam(PrimVar(item.name, "handle"), item) for item in buffers)
    handles = tuple(item.handle for item in params)
    made = PrimFunc(handles, params, body, (("tirx.noalias", True),), is_private=True, is_s_tir=True)
    return Legalized(name, made, (call.args[0],), results)


def sorted_by_runtime(
    name: str, options: Options, names: Callable[[Call, tuple[Type, ...]], Sequence[str]]
) -> Legalize:
    """Return the legalization by the function `tvm.contrib.sort.<name>`; `names` are those of the results' buffers."""

    def legalize(call: Call, arg_types: tuple[Type, ...], out: Type) -> Legalized | None:
        data, results = arg_types[0], results_of(out)
        dims = data.dims if isinstance(data, TensorType) else None
        own = None if dims is None else own_dims(dims)
        if not results or dims is None or own is None or not isinstance(data, TensorType) or data.dtype is None:
            return None
        attrs = (("align", 8),)
        given = Buffer("data_buf", tuple(map(own.__getitem__, dims)), data.dtype, attrs=attrs)
        made = [
            Buffer(hint, tuple(own.get(dim, dim) for dim in type_.dims or ()), type_.dtype or "", attrs=attrs)
            for hint, type_ in zip(names(call, arg_types), results, strict=True)
        ]
        outputs = (_array(item, is_narrow=name == "topk") for item in made)
        args = (StringImm(f"tvm.contrib.sort.{name}"), _array(given), *outputs, *options(call, arg_types))
        body = Block(f"{name}_cpu", (), Evaluate(Intrinsic("call_packed", args, "int32")), reads=(), writes=())
        return kernel(name, (given, *made), body, call, results)

    return legalize


def _array(buffer: Buffer, *, is_narrow: bool = False) -> PrimExpr:
    """Return a buffer as a tensor that is handed to the runtime; numbers in a narrow shape have 32 bits."""
    shape = buffer.shape
    if is_narrow:
        shape = tuple(const(dim.value, "int32") if isinstance(dim, IntImm) else dim for dim in shape)
    zero = FloatImm(0.0, buffer.dtype) if "float" in buffer.dtype else lit(0, buffer.dtype)
    args = (
        BufferRef(buffer),
        Intrinsic("tvm_stack_make_shape", shape, "handle"),
        const(0, "int32"),
        const(len(shape), "int32"),
        zero,
        const(0, dtype_of(shape[0])),
    )
    return Intrinsic("tvm_stack_make_array", args, "handle")


def _order(call: Call, arg_types: tuple[Type, ...]) -> tuple[PrimExpr, ...]:
    """Return the axis, and whether the least come first."""
    is_descending = flag_at(call, arg_types, 2)
    return const(int_at(call, arg_types, 1), "int32"), const(not is_descending)


def _choice(call: Call, arg_types: tuple[Type, ...]) -> tuple[PrimExpr, ...]:
    """Return how many, along which axis, what of them, and whether the least come first."""
    k, axis = (const(int_at(call, arg_types, place), "int32") for place in (1, 2))
    return k, axis, StringImm(word_at(call, arg_types, 3)), const(not flag_at(call, arg_types, 4))


def _one(_call: Call, _arg_types: tuple[Type, ...]) -> Sequence[str]:
    return ("out_buf",)


def _chosen(call: Call, arg_types: tuple[Type, ...]) -> Sequence[str]:
    match word_at(call, arg_types, 3):
        case "both":
            return "value_buf", "indices_buf"
        case "values":
            return ("value_buf",)
        case _:
            return ("indices_buf",)


SORT = sorted_by_runtime("sort", _order, _one)
ARGSORT = sorted_by_runtime("argsort", _order, _one)
TOPK = sorted_by_runtime("topk", _choice, _chosen)
