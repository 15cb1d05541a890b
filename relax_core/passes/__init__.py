"""Passes: `PASSES` is the table of all, by dialect and name."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.passes.core import Pass
from relax_core.passes.relax import (
    attach_global_symbol,
    call_tir_rewrite,
    canonicalize_bindings,
    dead_code_elimination,
    elide_closure_wrappers,
    kill_after_last_use,
    lambda_lift,
    legalize_ops,
    lower_alloc_tensor,
    lower_runtime_builtin,
    normalize,
    remove_purity_checking,
    to_non_dataflow,
    vm_shape_lower,
)

PASSES: Mapping[tuple[str, str], Pass] = MappingProxyType(
    {
        (module.PASS.dialect, module.PASS.name): module.PASS
        for module in (
            normalize,
            lambda_lift,
            elide_closure_wrappers,
            canonicalize_bindings,
            legalize_ops,
            dead_code_elimination,
            to_non_dataflow,
            remove_purity_checking,
            call_tir_rewrite,
            lower_alloc_tensor,
            kill_after_last_use,
            lower_runtime_builtin,
            vm_shape_lower,
            attach_global_symbol,
        )
    }
)
