"""The names of TVM's Relax operators, as `R.<name>` writes them: what is read even if nothing else is known of it."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from relax_core.diagnostics import Suggestion

OPERATOR_NAMES = frozenset(
    """
    abs acos acosh add arange argmax argmin argsort asin asinh assert_op astype atan atan2 atanh bitwise_and
    bitwise_not bitwise_or bitwise_xor broadcast_to bucketize builtin.alloc_tensor builtin.stop_lift_params
    call_builtin_with_ctx call_dps_packed call_inplace_packed call_packed call_pure_packed call_py_func call_tir
    call_tir_inplace call_tir_with_grad ccl.allgather ccl.allreduce ccl.broadcast_from_worker0
    ccl.scatter_from_worker0 ceil clip collapse_sum_like collapse_sum_to concat cos cosh cumprod cumsum dequantize
    device dist.annotate_sharding dist.call_tir dist.call_tir_local_view dist.redistribute
    dist.redistribute_replica_to_shard divide dynamic_strided_slice einsum equal erf ewise_fma exp expand_dims eye
    eye_like flatten flip floor floor_divide floor_mod full full_like gather_elements gather_nd
    grad.avg_pool2d_backward grad.end_checkpoint grad.max_pool2d_backward grad.nll_loss_backward grad.no_grad
    grad.start_checkpoint grad.take_backward greater greater_equal hamming_window hint_on_device image.affine_grid
    image.grid_sample image.resize2d image.resize3d index_put index_tensor inspect.tensor_byte_offset
    inspect.tensor_dtype_bits inspect.tensor_dtype_code inspect.tensor_dtype_lanes inspect.tensor_elem_offset
    inspect.tensor_ndim inspect.tensor_shape_i inspect.tensor_stride_i invoke_closure invoke_pure_closure isfinite
    isinf isnan layout_transform left_shift less less_equal log log_add_exp logical_and logical_not logical_or
    logical_xor make_closure matmul max maximum mean median memory.alloc_storage memory.alloc_tensor
    memory.ensure_zero_offset memory.kill_storage memory.kill_tensor memory.view meshgrid min minimum mod
    multinomial_from_uniform multiply negative nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d
    nn.attention nn.attention_bias nn.attention_var_len nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.batch_flatten
    nn.batch_norm nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d nn.conv3d_transpose
    nn.cross_entropy_with_logits nn.dropout nn.gelu nn.gelu_tanh nn.group_norm nn.instance_norm nn.layer_norm
    nn.leakyrelu nn.log_softmax nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.nll_loss nn.pad nn.pixel_shuffle
    nn.prelu nn.relu nn.relu6 nn.rms_norm nn.selu nn.silu nn.softmax nn.softplus nonzero not_equal null_value
    one_hot ones ones_like outer permute_dims power print prod quantize repeat reshape reverse_sequence right_shift
    round rsqrt scatter_elements scatter_nd shape_of shape_to_tensor sigmoid sign sin sinh size slice_scatter sort
    split sqrt square squeeze stack std stop_lift_params strided_slice subtract sum take tan tanh tensor_to_shape
    tile to_vdevice topk tril triu trunc unique variance vision.all_class_non_max_suppression
    vision.get_valid_counts vision.multibox_transform_loc vision.non_max_suppression vision.roi_align
    vision.roi_pool vm.alloc_storage vm.alloc_tensor vm.call_tir_dyn vm.kill_object vm.load_shape vm.store_shape where
    wrap_param zeros zeros_like
    """.split()  # noqa: SIM905  # the names read better as words than as a list of strings
)

_OF_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "amax": "max", "amin": "min", "batch_matmul": "matmul", "bmm": "matmul", "cast": "astype", "cat": "concat",
        "clamp": "clip", "concatenate": "concat", "dense": "linear", "div": "divide", "dot": "matmul", "eq": "equal",
        "expand": "broadcast_to", "ge": "greater_equal", "gt": "greater", "layernorm": "nn.layer_norm",
        "le": "less_equal", "leaky_relu": "nn.leakyrelu", "lt": "less", "mul": "multiply", "ne": "not_equal",
        "neg": "negative", "permute": "permute_dims", "pow": "power", "remainder": "mod", "sub": "subtract",
        "swish": "nn.silu", "to": "astype", "transpose": "permute_dims", "true_divide": "divide",
        "unsqueeze": "expand_dims", "view": "reshape",
    }
)  # fmt: skip
"""How NumPy, PyTorch and Relay call them."""


def operator_suggestion(short: str, known: Iterable[str], prefix: str) -> str:
    """Return which operator is meant by a name that none has, after the text's prefix `R.`; empty if that is not clear.

    It is one that others call so, one of the same name in another name space, or one that is spelt much like it.
    """
    names = tuple(dict.fromkeys(known))
    last = short.rpartition(".")[2].lower()
    same = [name for name in names if name.rpartition(".")[2].lower() == last]
    by_last = {**_OF_OTHERS, **{name.rpartition(".")[2].lower(): name for name in reversed(names)}}
    for found in (
        [_OF_OTHERS[last]] if last in _OF_OTHERS else [],
        same if len(same) == 1 else [],
        get_close_matches(short, names, n=1, cutoff=0.75),
        [by_last[item] for item in get_close_matches(last, by_last, n=1, cutoff=0.75)],
    ):
        if found:
            return Suggestion(prefix + short, prefix + found[0])
    return ""
