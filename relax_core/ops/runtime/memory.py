"""Operators on storage and devices, which lowering makes."""

from dataclasses import replace

from relax_core.ir.expr import OBJECT, VOID, Call, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ops.operands import call_name, dtype_at, literal_at, shape_at, tensor_at
from relax_core.ops.schema import ARGUMENTS, DATA, DEVICE_INDEX, DTYPE, FUNCTION, SHAPE, STORAGE_SCOPE
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, realized
from relax_core.ops.tensors.create import infer_filled
from relax_core.ops.tensors.manipulate import of_shape

_SEE = "tvm/src/relax/op/op.cc"
_SEE_DEVICE = "tvm/src/relax/op/op_common.cc"


def _infer_tensor_in_storage(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape and dtype; the storage is an object."""
    return of_shape(call, 2, shape_at(call, arg_types, 2), dtype_at(call, 3))


def _infer_storage(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer an object; the sizes are a shape.

    Raises:
        OpTypeError: TY074 for a size that is negative.
    """
    for size in shape_at(call, arg_types, 0).values or ():
        value = constant_value(size)
        if value is not None and value < 0:
            raise OpTypeError("TY074", f"{call_name(call)} of the size {value:,}; a size is not negative")
    return OBJECT


def infer_void(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer no value: an empty tuple."""
    return VOID


def _infer_on_device(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, at the given device."""
    return replace(tensor_at(call, arg_types), vdevice=str(literal_at(call, arg_types, 1)))


def _first(args: tuple[Value, ...]) -> Value:
    return args[0]


_STORAGE = Param("storage", "expr")
_OFFSET = Param("offset", "prim", "int64")
_DEVICE = Param("runtime_device_ind", "prim", "int64", default=0)
_VDEVICE = Param("dst_vdevice", "prim", "string")
_IN_STORAGE = (_STORAGE, _OFFSET, SHAPE, DTYPE, _DEVICE)

SPECS = (
    *realized("lowering", "Passes lower it to calls of the machine, which allocates.",
        OpSpec("relax.builtin.alloc_tensor", (SHAPE, DTYPE, DEVICE_INDEX, STORAGE_SCOPE), infer_filled,
               "Allocate a tensor that is not yet written.", see=_SEE),
        OpSpec("relax.memory.alloc_storage",
               (Param("size", "shape"), Param("virtual_device_index", "prim", "int64"),
                Param("storage_scope", "prim", "string"), DTYPE),
               _infer_storage, "Allocate storage of a number of bytes.", see=_SEE),
        OpSpec("relax.memory.alloc_tensor", _IN_STORAGE, _infer_tensor_in_storage, "Make a tensor in a storage.",
               see=_SEE),
        OpSpec("relax.memory.kill_tensor", (Param("tensor", "expr"),), infer_void, "End the life of a tensor.",
               is_pure=False, see=_SEE),
        OpSpec("relax.memory.kill_storage", (_STORAGE,), infer_void, "End the life of a storage.", is_pure=False,
               see=_SEE),
        OpSpec("relax.vm.alloc_storage",
               (SHAPE, Param("runtime_device_index", "prim", "int64"), DTYPE, STORAGE_SCOPE),
               _infer_storage, "Allocate storage of the machine.", see=_SEE),
        OpSpec("relax.vm.alloc_tensor", _IN_STORAGE, _infer_tensor_in_storage,
               "Make a tensor in a storage of the machine.",
               see=_SEE),
        OpSpec("relax.vm.kill_object", (Param("obj", "expr"),), infer_void, "End the life of a value.", is_pure=False,
               see=_SEE),
        OpSpec("relax.vm.call_tir_dyn", (FUNCTION, ARGUMENTS), infer_void,
               "Call a prim func whose scalar arguments come from a shape.", is_pure=False, see=_SEE),
    ),
    *realized("evaluation", "It says where a value is; all devices are the memory of this machine.",
        OpSpec("relax.to_vdevice", (DATA, _VDEVICE), _infer_on_device, "Copy to a device.", evaluate=_first,
               see=_SEE_DEVICE),
        OpSpec("relax.hint_on_device", (DATA, _VDEVICE, Param("memory_scope", "prim", "string", default="global")),
               _infer_on_device, "Say on which device a value should be.", evaluate=_first, see=_SEE_DEVICE),
    ),
)  # fmt: skip
