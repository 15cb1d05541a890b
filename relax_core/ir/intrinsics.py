"""Intrinsics of TIR that are no arithmetic: calls of functions, memory, threads. Here they are data."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from relax_core.ir.prim import PrimExpr, StringImm, dtype_of, is_dtype

# Pseudo intrinsics. `keyword("name", value)` is an argument that is given by name, `global("f", x)` a call of the
# module's function @f, `pointer_type("int8", "global")` a type among arguments, `None()` an absent argument,
# `dictionary(keyword("kind", "cuda"))` what a target is made of, and `unknown_pointer()` the memory of a buffer that
# the text does not tell.
KEYWORD, GLOBAL, POINTER_TYPE, NONE, UNKNOWN_POINTER = "keyword", "global", "pointer_type", "None", "unknown_pointer"
DICTIONARY = "dictionary"


def _rule(rule: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), rule)


# Numbers of a thread in its scope, which a program names without a type: `tx = T.thread_id([32])`.
SCOPE_IDS = (
    "cluster_id", "cta_id", "cta_id_in_cluster", "cta_id_in_pair", "lane_id", "warp_id", "warp_id_in_wg",
    "warpgroup_id", "thread_id", "thread_id_in_wg",
)  # fmt: skip

# What says the dtype of the result: the first or the last argument, a string, or the dtype of the first or second one.
FIRST, LAST, SAME, SECOND = "first", "last", "same", "second"

RESULTS: Mapping[str, str] = MappingProxyType(
    {
        **_rule(
            FIRST,
            "call_extern call_pure_extern call_llvm_intrin call_llvm_pure_intrin call_intrin call_spirv_pure_glsl450 "
            "type_annotation vectorlow vectorhigh vectorcombine get_active_lane_mask masked_load Call",
        ),
        **_rule(LAST, "tvm_struct_get"),
        **_rule(
            "handle",
            "tvm_access_ptr address_of tvm_stack_alloca tvm_stack_make_shape tvm_stack_make_array tvm_tuple "
            "anylist_getitem TVMBackendAllocWorkspace lookup_param handle_add_byte_offset ptr_byte_offset "
            "tvm_context_id texture2d_load mem_copy Range iter_var None target dictionary",
        ),
        **_rule(
            "int32",
            "call_packed call_cpacked tvm_call_packed tvm_call_cpacked call_packed_lowered call_cpacked_lowered "
            "tvm_call_packed_lowered tvm_call_cpacked_lowered tvm_call_trace_packed tvm_call_trace_packed_lowered "
            "tvm_struct_set tvm_storage_sync tvm_throw_last_error TVMBackendFreeWorkspace anylist_resetitem "
            "anylist_setitem_call_packed anylist_setitem_call_cpacked undef vscale tvm_global_barrier_kinit "
            "tvm_kernel_replace_point call_ffi_kernel call_kernel cluster_id cta_id cta_id_in_cluster "
            "cta_id_in_pair lane_id warp_id warp_id_in_wg warpgroup_id thread_id thread_id_in_wg "
            "llvm_lookup_intrinsic_id",
        ),
        **_rule("bool", "isnullptr assume filter"),
        **_rule("uint32", "tvm_warp_activemask"),
        **_rule("void", "break_loop continue_loop ret print_buffer hint masked_store"),
        **_rule(
            SAME,
            "likely q_multiply_shift q_multiply_shift_per_axis fma tvm_thread_invariant large_uint_imm "
            "ignore_loop_partition clamp selector",
        ),
        **_rule(SECOND, "tvm_warp_shuffle tvm_warp_shuffle_up tvm_warp_shuffle_down tvm_warp_shuffle_xor"),
    }
)

# Families of intrinsics, mostly of GPUs, whose members are all read.
FAMILIES = (
    "tvm_", "ptx", "cuda", "mma_", "nvshmem", "metal", "webgpu", "simdgroup_", "make_filled_simdgroup", "TVMBackend",
    "cooperative_tensor", "create_barriers", "anylist_", "dma_", "texture2d", "start_profile", "end_profile", "nki",
    "s_tir.", "tensormap", "vector", "get_", "dp4a", "cooperative_", "ldg", "async_", "wmma", "thread_return", "tir_",
)  # fmt: skip


def is_known(name: str) -> bool:
    """Tell whether `T.<name>(...)` is a call of an intrinsic."""
    return name in RESULTS or name.startswith(FAMILIES)


def says_dtype(args: Sequence[PrimExpr]) -> bool:
    """Tell whether the first argument is the name of a dtype."""
    return bool(args) and isinstance(first := args[0], StringImm) and (is_dtype(first.value) or first.value == "void")


def default_dtype(name: str, args: Sequence[PrimExpr]) -> str:
    """Return the dtype that a call has unless it says `dtype=`."""
    match RESULTS.get(name, FIRST if says_dtype(args) else "handle"), args:
        case "first", [StringImm(value=dtype), *_]:
            return dtype if says_dtype(args) else "handle"
        case "last", [*_, StringImm(value=dtype)]:
            return dtype
        case "same", [first, *_]:
            return dtype_of(first)
        case "second", [_, second, *_]:
            return dtype_of(second)
        case "first" | "last" | "same" | "second", _:
            return "handle"
        case dtype, _:
            return dtype
