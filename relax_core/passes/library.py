"""The table of all passes, by dialect and name. It is loaded late: naming them all takes a fifth of a second."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.passes.core import Pass
from relax_core.passes.relax import (
    apply_rules,
    canonicalize_bindings,
    dead_code_elimination,
    eliminate_common_subexpr,
    fold_constant,
    legalize_ops,
    normalize,
    realize_vdevice,
    update_vdevice,
)
from relax_core.passes.relax.algebra import (
    adjust_matmul_order,
    combine_parallel_matmul,
    expand_matmul_of_sum,
    fold_batchnorm_to_conv2d,
    reorder_permute_dims_after_concat,
    reorder_take_after_matmul,
)
from relax_core.passes.relax.blocks import convert_to_dataflow, dataflow_use_inplace_calls, topological_sort
from relax_core.passes.relax.byoc import (
    fuse_ops_by_pattern,
    link_reference_backend,
    merge_composite_functions,
    run_codegen,
    split_call_tir_by_pattern,
)
from relax_core.passes.relax.closures import elide_closure_wrappers, lambda_lift
from relax_core.passes.relax.fusion import fuse_ops, fuse_tir
from relax_core.passes.relax.interfaces import (
    expand_tuple_arguments,
    inline_private_functions,
    normalize_global_var,
    remove_unused_outputs,
    remove_unused_parameters,
)
from relax_core.passes.relax.layout import (
    alter_op_impl,
    attach_attr_layout_free_buffers,
    convert_layout,
    optimize_layout_transform,
    remove_redundant_reshape,
    rewrite_dataflow_reshape,
    split_layout_rewrite_preproc,
)
from relax_core.passes.relax.operators import (
    annotate_tir_op_pattern,
    decompose_ops_for_inference,
    decompose_ops_for_training,
    dispatch_sampling,
    dispatch_sort_scan,
)
from relax_core.passes.relax.precision import to_mixed_precision
from relax_core.passes.relax.runtime import (
    allocate_workspace,
    attach_global_symbol,
    call_tir_rewrite,
    kill_after_last_use,
    lower_alloc_tensor,
    lower_gpu_ipc_alloc_storage,
    lower_runtime_builtin,
    remove_purity_checking,
    rewrite_cuda_graph,
    static_plan_block_memory,
    to_non_dataflow,
    vm_builtin_lower,
    vm_shape_lower,
)
from relax_core.passes.relax.scalars import box_prims, canonicalize_tir_variables, compute_prim_value, unbox_scalars
from relax_core.passes.relax.training import gradient
from relax_core.passes.relax.weights import (
    bind_params,
    bind_symbolic_vars,
    bundle_model_params,
    lazy_get_input,
    lazy_set_output,
    lazy_transform_params,
    lift_transform_params,
)
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
from relax_core.passes.tir import (
    canonicalize_loop,
    convert_blocks_to_opaque,
    flatten_buffer,
    hoist_if_then_else,
    loop_partition,
    lower_init_block,
    lower_opaque_block,
    remove_no_op,
    stmt_simplify,
    unroll_loop,
    vectorize_loop,
)
from relax_core.passes.tir.memory import (
    compact_buffer_allocation,
    lower_match_buffer,
    plan_buffer_allocation_location,
    storage_rewrite,
)
from relax_core.passes.tir.scalars import common_subexpr_elim, narrow_data_type
from relax_core.passes.tir.schedule import annotate, default_gpu_schedule, unannotate
from relax_core.passes.tir.schedule.blocks import (
    blockize,
    compute_at,
    compute_inline,
    reverse_compute_at,
    reverse_compute_inline,
    tensorize,
)
from relax_core.passes.tir.schedule.buffers import (
    cache_read,
    cache_write,
    reindex,
    set_scope,
    storage_align,
    transform_layout,
)
from relax_core.passes.tir.schedule.loops import add_unit_loop, bind, fuse, parallel, reorder, split, unroll, vectorize
from relax_core.passes.tir.schedule.reductions import decompose_reduction, rfactor

PASSES: Mapping[tuple[str, str], Pass] = MappingProxyType(
    {
        (module.PASS.dialect, module.PASS.name): module.PASS
        for module in (
            normalize,
            apply_rules,
            lambda_lift,
            elide_closure_wrappers,
            canonicalize_bindings,
            legalize_ops,
            fuse_ops,
            fuse_tir,
            fuse_ops_by_pattern,
            merge_composite_functions,
            run_codegen,
            split_call_tir_by_pattern,
            link_reference_backend,
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
            compute_prim_value,
            canonicalize_tir_variables,
            convert_to_dataflow,
            topological_sort,
            dataflow_use_inplace_calls,
            normalize_global_var,
            inline_private_functions,
            remove_unused_parameters,
            remove_unused_outputs,
            expand_tuple_arguments,
            annotate_tir_op_pattern,
            rewrite_dataflow_reshape,
            remove_redundant_reshape,
            decompose_ops_for_inference,
            decompose_ops_for_training,
            dispatch_sampling,
            dispatch_sort_scan,
            static_plan_block_memory,
            rewrite_cuda_graph,
            lower_gpu_ipc_alloc_storage,
            allocate_workspace,
            attach_attr_layout_free_buffers,
            alter_op_impl,
            split_layout_rewrite_preproc,
            vm_builtin_lower,
            convert_layout,
            optimize_layout_transform,
            to_mixed_precision,
            gradient,
            combine_parallel_matmul,
            fold_batchnorm_to_conv2d,
            adjust_matmul_order,
            expand_matmul_of_sum,
            reorder_permute_dims_after_concat,
            reorder_take_after_matmul,
            bind_params,
            bind_symbolic_vars,
            bundle_model_params,
            lift_transform_params,
            lazy_get_input,
            lazy_set_output,
            lazy_transform_params,
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
            canonicalize_loop,
            lower_init_block,
            plan_buffer_allocation_location,
            convert_blocks_to_opaque,
            compact_buffer_allocation,
            lower_match_buffer,
            lower_opaque_block,
            flatten_buffer,
            stmt_simplify,
            vectorize_loop,
            storage_rewrite,
            common_subexpr_elim,
            narrow_data_type,
            remove_no_op,
            hoist_if_then_else,
            loop_partition,
            unroll_loop,
            split,
            fuse,
            reorder,
            parallel,
            vectorize,
            unroll,
            bind,
            add_unit_loop,
            decompose_reduction,
            rfactor,
            compute_at,
            reverse_compute_at,
            compute_inline,
            reverse_compute_inline,
            blockize,
            tensorize,
            cache_read,
            cache_write,
            reindex,
            set_scope,
            storage_align,
            transform_layout,
            annotate,
            unannotate,
            default_gpu_schedule,
        )
    }
)
