"""Relay's operators that move no numbers: annotations, devices, memory, the virtual machine; and the opaque ones."""

from types import MappingProxyType

from relax_core.ir.attrs import AttrValue
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import VOID, AdtType, FuncType, TensorType, Type
from relax_core.ops.relay.dims import is_same
from relax_core.ops.relay.manipulate import new_dims
from relax_core.ops.relay.rare import fourier, windowed_fourier
from relax_core.ops.relay.show import show_dim, show_type
from relax_core.ops.relay.spec import RelayCall, op
from relax_core.ops.spec import REQUIRED

STORAGE = "Storage"
_NOTE = "an annotation for passes, which take it away"
_CALLS_LOWERED = MappingProxyType({"in_out": None})
_LOWERED = "a step of Relay's own lowering, which Relax does with call_tir"
_TARGET = "an operator of one accelerator, whose type follows from that machine's sizes"


def first(call: RelayCall) -> Type:
    """Relation: the first argument itself, of whatever type."""
    return call.args[0]


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
        dims = tuple(AnyDim() if isinstance(dim, IntImm) and dim.value == -1 else dim for dim in new_dims(call, given))
    elif call.constant(2) is not None:
        dims = tuple(IntImm(int(item)) for item in call.constant(2) or ())
    return TensorType(dims, call.dtype() or "float32")


def _void(call: RelayCall) -> Type:
    return VOID


def _vm_shape_of(call: RelayCall) -> Type:
    dims = call.dims()
    return TensorType((AnyDim() if dims is None else IntImm(len(dims)),), call.dtype() or "int64")


def _reshape_tensor(call: RelayCall) -> Type:
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


def _einsum(call: RelayCall) -> Type:
    """Relation: the sizes of the letters behind `->`, or of those that occur once, in the order of the alphabet."""
    tensors, equation = call.tensors(), call.text("equation").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    if "." in equation or len(inputs.split(",")) != len(tensors):
        return TensorType(None, tensors[0].dtype if tensors else None)
    sizes: dict[str, PrimExpr] = {}
    for letters, tensor in zip(inputs.split(","), tensors, strict=True):
        if tensor.dims is not None and len(letters) != len(tensor.dims):
            raise call.refuse(f'names {len(letters)} axes by "{letters}", but the operand is {show_type(tensor)}')
        for letter, dim in zip(letters, tensor.dims or (), strict=False):
            if letter in sizes and is_same(sizes[letter], dim) is False:
                raise call.refuse(f"has {show_dim(sizes[letter])} and {show_dim(dim)} as the size of {letter}")
            sizes.setdefault(letter, dim)
    names = output if arrow else sorted(item for item in set(inputs) if inputs.count(item) == 1 and item != ",")
    if any(item not in sizes for item in names):
        return TensorType(None, tensors[0].dtype)
    return TensorType(tuple(sizes[item] for item in names), tensors[0].dtype)


_ON_DEVICE = MappingProxyType({
    "virtual_device": None, "constrain_result": False, "constrain_body": True, "device_type": None,
    "is_fixed": False,
})  # fmt: skip
_COPY = MappingProxyType(
    {"src_virtual_device": None, "dst_virtual_device": None, "src_dev_type": None, "dst_dev_type": None}
)
_COMPILER = MappingProxyType({"compiler": ""})
_ETHOSU = ("identity", "conv2d", "depthwise_conv2d", "pooling", "binary_elementwise", "unary_elementwise")

SPECS = (
    op("on_device", "body", first, _ON_DEVICE, relax="relax.hint_on_device", is_identity=True),
    op("device_copy", "body", first, _COPY, relax="relax.to_vdevice", is_identity=True),
    op("annotation.compiler_begin", "data", first, _COMPILER, why=_NOTE, is_identity=True),
    op("annotation.compiler_end", "data", first, _COMPILER, why=_NOTE, is_identity=True),
    op("annotation.stop_fusion", "data", first, why=_NOTE, is_identity=True),
    op("annotation.checkpoint", "data", first, relax="relax.grad.start_checkpoint", is_identity=True),
    op("annotation.bitpack_start", "data", first, why=_NOTE, is_identity=True),
    op("annotation.bitpack_end", "data", first, why=_NOTE, is_identity=True),
    op("debug", "data", first, {"func": ""}, why=_NOTE, is_identity=True),
    op("annotation.cast_hint", "data", first, {"dtype": ""}, why=_NOTE, is_identity=True),
    op("memory.alloc_storage", "size shape? alignment?", _storage,
       {"virtual_device": None, "dtype": "float32", "device_id": 0, "device_type": 1, "se_scope": None},
       relax="relax.memory.alloc_storage"),
    op("memory.alloc_tensor", "storage offset shape", _alloc_tensor,
       {"const_shape": None, "assert_shape": None, "dtype": "float32"}, relax="relax.memory.alloc_tensor"),
    op("memory.kill", "tensor", _void, relax="relax.memory.kill_tensor"),
    op("vm.shape_of", "tensor", _vm_shape_of, {"dtype": "int64"}, relax="relax.shape_of"),
    op("vm.shape_func", "func inputs outputs", _void, {"is_input": ()}, why=_LOWERED),
    op("vm.invoke_tvm_op", "func inputs outputs", _void, _CALLS_LOWERED, why=_LOWERED),
    op("memory.shape_func", "func inputs outputs", _void, {"is_input": ()}, why=_LOWERED),
    op("memory.invoke_tvm_op", "func inputs outputs", _void, _CALLS_LOWERED, why=_LOWERED),
    op("vm.reshape_tensor", "data shape", _reshape_tensor, {"newshape": None}, relax="relax.reshape"),
    op("call_lowered", "func inputs", _call_lowered, {"metadata": None}, relax="relax.call_tir"),
    op("einsum", "data", _einsum, {"equation": REQUIRED}, relax="relax.einsum"),
    op("dft", "re_data im_data", fourier, {"inverse": False}, why="products with matrices of cosines and sines"),
    op("stft", "data window", windowed_fourier,
       {"n_fft": REQUIRED, "hop_length": REQUIRED, "win_length": REQUIRED, "normalized": False, "onesided": True},
       why="windows times matrices of cosines and sines"),
    op("test.op", "data?", None, why="an operator of TVM's own tests"),
    *(op(f"contrib.ethosu.{name}", "ifm ifm2? lut? weight? scale_bias?", None, why=_TARGET) for name in _ETHOSU),
)  # fmt: skip
