"""Which prim funcs have side effects: the type of one that has none is pure, and a dataflow block may call it."""

from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import Allocate, BufferStore, DeclBuffer, PrimFunc

EFFECT_FREE = frozenset(
    """
    acos acosh address_of anylist_getitem asin asinh assume atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor break_loop call_llvm_pure_intrin call_pure_extern call_spirv_pure_glsl450 ceil clz continue_loop
    copysign cos cosh dp4a end_profile_intrinsic erf exp exp10 exp2 fabs filter floor fma fmod get_active_lane_mask
    handle_add_byte_offset hypot if_then_else ignore_loop_partition isfinite isinf isnan isnullptr large_uint_imm ldexp
    likely log log10 log1p log2 masked_load nearbyint nextafter popcount pow ptr_byte_offset q_multiply_shift
    q_multiply_shift_per_axis reinterpret ret round rsqrt s_tir.ldg32 shift_left shift_right sigmoid sin sinh sqrt
    start_profile_intrinsic tan tanh thread_return trunc tvm_access_ptr tvm_context_id tvm_load_matrix_sync
    tvm_static_handle tvm_struct_get tvm_thread_invariant tvm_tuple type_annotation undef vectorcombine vectorhigh
    vectorlow vscale Ramp Broadcast Shuffle keyword None
    """.split()  # noqa: SIM905
)
"""Intrinsics that compute or read, or say something of their arguments; every other one may change the machine."""


def is_pure_prim_func(prim_func: PrimFunc) -> bool:
    """Tell whether `prim_func` calls nothing with an effect and stores only to buffers that it allocates itself.

    A buffer of a block, or one that names the memory of another buffer, counts as memory from outside.
    Complexity: linear in the body, less for one that is impure.

    See: tvm/src/tirx/analysis/is_pure_function.cc
    """
    own = set[Node]()
    for node in preorder(prim_func.body):
        match node:
            case Allocate(var=var):
                own.add(var)
            case DeclBuffer(buffer=buffer, pointer=pointer) if pointer is None or pointer in own:
                own.add(buffer)
            case BufferStore(buffer=buffer) if buffer not in own:
                return False
            case Intrinsic(name=name) if name not in EFFECT_FREE:
                return False
            case _:
                pass
    return True
