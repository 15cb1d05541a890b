"""Operators that the machine runs under another name, and those that a pass must lower."""

from collections.abc import Mapping
from types import MappingProxyType

BUILTIN_OF: Mapping[str, str] = MappingProxyType(
    {
        "relax.print": "relax.run.print",
        "relax.assert_op": "relax.run.assert_op",
        "relax.shape_of": "vm.builtin.shape_of",
        "relax.tensor_to_shape": "vm.builtin.tensor_to_shape",
        "relax.make_closure": "vm.builtin.make_closure",
        "relax.vm.call_tir_dyn": "vm.builtin.call_tir_dyn",
    }
)

_LOWERED_BY: Mapping[str, str] = MappingProxyType(
    {
        "relax.call_tir": "CallTIRRewrite",
        "relax.call_tir_inplace": "CallTIRRewrite",
        "relax.call_dps_packed": "CallTIRRewrite",
        "relax.call_inplace_packed": "RemovePurityChecking",
        "relax.builtin.alloc_tensor": "LowerAllocTensor",
        "relax.memory.alloc_storage": "LowerRuntimeBuiltin",
        "relax.memory.alloc_tensor": "LowerRuntimeBuiltin",
        "relax.memory.kill_storage": "LowerRuntimeBuiltin",
        "relax.memory.kill_tensor": "LowerRuntimeBuiltin",
    }
)


def lowering_pass(name: str) -> str | None:
    """Return the pass that must lower the operator `name` before it is compiled, `None` for any other operator."""
    return _LOWERED_BY.get(name)
