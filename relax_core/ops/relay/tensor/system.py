"""Relay's operators that move no numbers: annotations, devices, memory, the virtual machine; and the opaque ones."""

from types import MappingProxyType

from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import VOID, AdtType, Expr, FuncType, TensorType, Tuple, Type
from relax_core.ir.prim import AnyDim, IntImm, is_number
from relax_core.ops.relay.entry import op, passing
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.create import shape_of
from relax_core.ops.relay.tensor.dynamic import dyn_reshape
from relax_core.ops.relay.tensor.manipulate import new_dims

STORAGE = "Storage"


_CALLS_LOWERED = MappingProxyType({"in_out": None})

_LOWERED = "a step of Relay's own lowering, which Relax does with call_tir"

_TARGET = "an operator of one accelerator, whose type follows from that machine's sizes"

_ON_DEVICE = MappingProxyType({
    "virtual_device": None, "constrain_result": False, "constrain_body": True, "device_type": None,
    "is_fixed": False,
})  # fmt: skip

_COPY = MappingProxyType(
    {"src_virtual_device": None, "dst_virtual_device": None, "src_dev_type": None, "dst_dev_type": None}
)

_COMPILER = MappingProxyType({"compiler": ""})

_ETHOSU = ("identity", "conv2d", "depthwise_conv2d", "pooling", "binary_elementwise", "unary_elementwise")


def _storage(call: RelayCall) -> Type:
    return AdtType(STORAGE, ())


def _is_shape(value: AttrValue) -> bool:
    # A constant of a metadata section that is not there is a reference, and no shape.
    return isinstance(value, tuple) and not any(isinstance(item, tuple | str) for item in value)


def _alloc_tensor(call: RelayCall) -> Type:
    dims = None
    given = next((name for name in ("const_shape", "assert_shape") if _is_shape(call.attrs.get(name))), "")
    if given:
        # A size of -1 is one that only the run knows.
        dims = tuple(AnyDim() if is_number(dim, -1) else dim for dim in new_dims(call, given))
    elif call.constant(2) is not None:
        dims = tuple(IntImm(int(item)) for item in call.constant(2) or ())
    return TensorType(dims, call.dtype() or "float32")


def _void(call: RelayCall) -> Type:
    return VOID


def _reshape_tensor_type(call: RelayCall) -> Type:
    dims = new_dims(call, "newshape") if call.has("newshape") else None
    literal = call.constant(1)
    if dims is None and literal is not None:
        dims = tuple(IntImm(int(item)) for item in literal)
    return TensorType(dims, call.tensor().dtype)


def _call_lowered(call: RelayCall) -> Type:
    callee = call.args[0]
    if not isinstance(callee, FuncType):
        raise call.refuse("expects a function as its first argument")
    return callee.ret


def _nothing(call: RelayCall) -> Expr:
    return Tuple(())


_SHAPE_FUNC = MappingProxyType({"is_input": ()})
_STORED = MappingProxyType(
    {"virtual_device": None, "dtype": "float32", "device_id": 0, "device_type": 1, "se_scope": None}
)

SPECS = (
    passing("on_device", _ON_DEVICE, param="body", relax="hint_on_device"),
    passing("device_copy", _COPY, param="body", relax="to_vdevice"),
    passing("annotation.compiler_begin", _COMPILER),
    passing("annotation.compiler_end", _COMPILER),
    passing("annotation.stop_fusion"),
    passing("annotation.checkpoint", relax="grad.start_checkpoint"),
    passing("annotation.bitpack_start"),
    passing("annotation.bitpack_end"),
    passing("debug", {"func": ""}),
    passing("annotation.cast_hint", {"dtype": ""}),
    op("memory.alloc_storage", "size shape? alignment?", None, _STORED, relax="memory.alloc_storage", why=_LOWERED,
       relation=_storage),
    op("memory.alloc_tensor", "storage offset shape", None,
       {"const_shape": None, "assert_shape": None, "dtype": "float32"}, relax="memory.alloc_tensor", why=_LOWERED,
       relation=_alloc_tensor),
    op("memory.kill", "tensor", _nothing, relax="memory.kill_tensor", relation=_void),
    op("vm.shape_of", "tensor", shape_of, {"dtype": "int64"}, relax="shape_of"),
    *(op(f"{family}.shape_func", "func inputs outputs", None, _SHAPE_FUNC, why=_LOWERED, relation=_void)
      for family in ("vm", "memory")),
    *(op(f"{family}.invoke_tvm_op", "func inputs outputs", None, _CALLS_LOWERED, why=_LOWERED, relation=_void)
      for family in ("vm", "memory")),
    op("vm.reshape_tensor", "data shape", dyn_reshape, {"newshape": None}, relax="reshape",
       relation=_reshape_tensor_type),
    op("call_lowered", "func inputs", None, {"metadata": None}, relax="call_tir", why=_LOWERED,
       relation=_call_lowered),
    op("test.op", "data?", None, why="an operator of TVM's own tests"),
    *(op(f"contrib.ethosu.{name}", "ifm ifm2? lut? weight? scale_bias?", None, why=_TARGET) for name in _ETHOSU),
)  # fmt: skip
