"""Passes: `PASSES` is the table of all, by dialect and name."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.passes.core import Pass
from relax_core.passes.relax import (
    canonicalize_bindings,
    dead_code_elimination,
    eliminate_common_subexpr,
    fold_constant,
    legalize_ops,
    normalize,
    realize_vdevice,
    update_vdevice,
)
from relax_core.passes.relax.closures import elide_closure_wrappers, lambda_lift
from relax_core.passes.relax.fusion import fuse_ops, fuse_tir
from relax_core.passes.relax.runtime import (
    attach_global_symbol,
    call_tir_rewrite,
    kill_after_last_use,
    lower_alloc_tensor,
    lower_runtime_builtin,
    remove_purity_checking,
    to_non_dataflow,
    vm_shape_lower,
)
from relax_core.passes.relax.scalars import box_prims, unbox_scalars
from relax_core.passes.relay import (
    canonicalize_ops,
    defuse_ops,
    infer_type,
    inline,
    remove_unused_functions,
    simplify_inference,
)
from relax_core.passes.relay import dead_code_elimination as relay_dead_code_elimination
from relax_core.passes.relay import eliminate_common_subexpr as relay_eliminate_common_subexpr
from relax_core.passes.relay import fold_constant as relay_fold_constant
from relax_core.passes.relay import fuse_ops as relay_fuse_ops
from relax_core.passes.relay.byoc import annotate_target, merge_compiler_regions, merge_composite, partition_graph
from relax_core.passes.relay.closures import defunctionalization, eta_expand
from relax_core.passes.relay.closures import lambda_lift as relay_lambda_lift
from relax_core.passes.relay.memory import manifest_alloc, manifest_lifetimes, plan_devices
from relax_core.passes.relay.normal_form import to_a_normal_form, to_basic_block_normal_form, to_graph_normal_form
from relax_core.passes.relay.to_relax import relay_to_relax

PASSES: Mapping[tuple[str, str], Pass] = MappingProxyType(
    {
        (module.PASS.dialect, module.PASS.name): module.PASS
        for module in (
            normalize,
            lambda_lift,
            elide_closure_wrappers,
            canonicalize_bindings,
            legalize_ops,
            fuse_ops,
            fuse_tir,
            eliminate_common_subexpr,
            fold_constant,
            dead_code_elimination,
            to_non_dataflow,
            remove_purity_checking,
            call_tir_rewrite,
            lower_alloc_tensor,
            kill_after_last_use,
            lower_runtime_builtin,
            vm_shape_lower,
            attach_global_symbol,
            realize_vdevice,
            update_vdevice,
            box_prims,
            unbox_scalars,
            to_a_normal_form,
            to_graph_normal_form,
            infer_type,
            relay_fold_constant,
            relay_dead_code_elimination,
            relay_eliminate_common_subexpr,
            inline,
            eta_expand,
            relay_lambda_lift,
            relay_fuse_ops,
            to_basic_block_normal_form,
            simplify_inference,
            canonicalize_ops,
            defunctionalization,
            defuse_ops,
            remove_unused_functions,
            merge_composite,
            annotate_target,
            merge_compiler_regions,
            partition_graph,
            plan_devices,
            manifest_alloc,
            manifest_lifetimes,
            relay_to_relax,
        )
    }
)
