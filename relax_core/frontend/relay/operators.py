"""The names of Relay's operators and of their attributes, for checking a text's spelling.

One line per operator. `a|b` are two operators with the same attributes. What an operator does stands in `ops/`.
"""

from collections.abc import Mapping
from types import MappingProxyType

_CONV = "strides padding dilation groups channels kernel_size data_layout kernel_layout out_layout out_dtype"
_POOL = "pool_size strides dilation padding layout out_layout ceil_mode"
_REDUCE = "axis keepdims exclude"
_DENSE = "units out_dtype"
_NMS = (
    "return_indices max_output_size iou_threshold force_suppress top_k coord_start score_index id_index "
    "invalid_to_bottom"
)

_TABLE = f"""
add|subtract|multiply|divide|floor_divide|trunc_divide|mod|floor_mod|trunc_mod|power|maximum|minimum:
equal|not_equal|less|less_equal|greater|greater_equal|logical_and|logical_or|logical_xor|logical_not:
left_shift|right_shift|bitwise_and|bitwise_or|bitwise_xor|bitwise_not:
exp|log|log2|log10|sqrt|rsqrt|tanh|sigmoid|erf|negative|abs|sign|ceil|floor|round|trunc|copy|isnan|isfinite|isinf:
sin|cos|tan|asin|acos|atan|sinh|cosh|asinh|acosh|atanh|zeros_like|ones_like|full_like|where|fast_exp|fast_tanh|fast_erf:
rsub|rdivide|rpower|gcd:
clip: a_min a_max
fixed_point_multiply: multiplier shift
fixed_point_multiply_per_axis: is_lshift_required is_rshift_required axes
cast: dtype
cast_like|reshape_like|broadcast_to_like|collapse_sum_like|slice_like: axes lhs_begin lhs_end rhs_begin rhs_end
reinterpret: dtype
reshape: newshape allowzero
contrib_reverse_reshape: newshape allowzero
transpose: axes
expand_dims: axis num_newaxis
squeeze: axis
concatenate: axis
stack: axis
split: indices_or_sections axis
take: axis mode batch_dims
gather: axis
gather_nd: batch_dims index_rank
scatter|scatter_add|scatter_elements: axis reduction
scatter_nd: mode out_shape
full|zeros|ones|dyn.full|dyn.zeros|dyn.ones: shape dtype
arange: start stop step dtype
meshgrid: indexing
repeat: repeats axis
tile: reps
reverse: axis
reverse_sequence: seq_axis batch_axis
broadcast_to: shape dtype
collapse_sum_to: shape
strided_slice: begin end strides slice_mode axes
dynamic_strided_slice:
strided_set: begin end strides
layout_transform: src_layout dst_layout
auto_scheduler_layout_transform|meta_schedule_layout_transform: src_layout dst_layout index_map
shape_of|ndarray_size: dtype
sequence_mask: mask_value axis
one_hot: depth axis dtype on_value off_value
unravel_index:
sparse_to_dense: output_shape
matrix_set_diag: k1 k2 super_diag_right_align sub_diag_right_align
adv_index|invert_permutation|sparse_fill_empty_rows|sparse_reshape|stft|dft|trilu: upper n_fft hop_length win_length \
normalized onesided inverse
searchsorted: right dtype
unique: sorted return_counts
cumsum|cumprod: axis dtype exclusive
argsort|sort: axis is_ascend dtype
topk: k axis ret_type is_ascend dtype
sum|mean|max|min|prod|all|any|bincount: {_REDUCE}
variance: {_REDUCE} unbiased
logsumexp: {_REDUCE}
argmax|argmin: {_REDUCE} select_last_index
einsum: equation
ndarray_size: dtype
device_copy: src_virtual_device dst_virtual_device src_dev_type dst_dev_type
on_device: virtual_device constrain_result constrain_body device_type is_fixed
debug: func
print:
call_lowered: metadata
copy_shape_func:
no_param:
op.tanh|op.sqrt|op.clip:
annotation.compiler_begin|annotation.compiler_end: compiler
annotation.stop_fusion|annotation.checkpoint|annotation.bitpack_start|annotation.bitpack_end: compiler
annotation.cast_hint: dtype
annotation.simulated_quantize: kind sign rounding
relay.op.annotation.simulated_quantize|qnn.simulated_quantize|qnn.simulated_dequantize: kind sign rounding axis
nn.conv1d|nn.conv2d|nn.conv3d: {_CONV}
nn.contrib_conv2d_NCHWc|nn.contrib_depthwise_conv2d_NCHWc|nn.conv2d_NCHWc|nn.depthwise_conv2d_NCHWc: {_CONV} \
auto_scheduler_rewritten_layout meta_schedule_original_shape
nn.conv1d_transpose|nn.conv2d_transpose|nn.conv3d_transpose: {_CONV} output_padding
nn.conv2d_backward_weight: {_CONV} grad_layout
nn.contrib_conv2d_gemm_without_weight_transform|nn.contrib_conv2d_winograd_without_weight_transform: {_CONV} tile_size
nn.contrib_conv3d_winograd_without_weight_transform: {_CONV} tile_size
nn.contrib_conv2d_winograd_weight_transform|nn.contrib_conv3d_winograd_weight_transform: tile_size
nn.contrib_conv2d_winograd_nnpack_weight_transform: convolution_algorithm out_dtype
nn.contrib_conv2d_gemm_weight_transform: tile_N tile_K
nn.deformable_conv2d: {_CONV} deformable_groups
nn.bitserial_conv2d: {_CONV} activation_bits weight_bits pack_dtype unipolar
nn.bitserial_dense: units data_bits weight_bits pack_dtype out_dtype unipolar
nn.bitpack: bits pack_axis bit_axis pack_type name
nn.correlation: kernel_size max_displacement stride1 stride2 padding is_multiply layout
nn.dense: {_DENSE} auto_scheduler_rewritten_layout meta_schedule_original_shape
nn.contrib_dense_pack: {_DENSE} weight_layout
nn.matmul: units out_dtype transpose_a transpose_b auto_scheduler_rewritten_layout meta_schedule_original_shape
nn.batch_matmul: out_dtype transpose_a transpose_b auto_scheduler_rewritten_layout meta_schedule_original_shape
nn.sparse_dense: sparse_lhs
nn.internal.sparse_dense_padded: sparse_lhs
nn.sparse_transpose|nn.sparse_add:
nn.sparse_conv2d: layout kernel_size
nn.fifo_buffer: axis
nn.bias_add: axis
nn.relu|nn.batch_flatten|nn.fast_tanh:
nn.fast_softmax: axis
nn.leaky_relu: alpha
nn.prelu: axis
nn.softmax|nn.log_softmax: axis
nn.cross_entropy|nn.cross_entropy_with_logits:
nn.nll_loss: reduction ignore_index
nn.dropout: rate
nn.batch_norm: axis epsilon center scale
nn.layer_norm: axis epsilon center scale
nn.instance_norm: axis epsilon center scale
nn.group_norm: num_groups axis epsilon center scale
nn.l2_normalize: eps axis
nn.lrn: size axis bias alpha beta
nn.pad: pad_width pad_mode
nn.mirror_pad: mode pad_width
nn.max_pool1d|nn.max_pool2d|nn.max_pool3d: {_POOL}
nn.avg_pool1d|nn.avg_pool2d|nn.avg_pool3d: {_POOL} count_include_pad
nn.max_pool2d_grad|nn.avg_pool2d_grad: {_POOL} count_include_pad
nn.global_max_pool1d|nn.global_max_pool2d|nn.global_max_pool3d: layout out_layout
nn.global_avg_pool1d|nn.global_avg_pool2d|nn.global_avg_pool3d: layout out_layout
nn.adaptive_max_pool1d|nn.adaptive_max_pool2d|nn.adaptive_max_pool3d: output_size layout out_layout
nn.adaptive_avg_pool1d|nn.adaptive_avg_pool2d|nn.adaptive_avg_pool3d: output_size layout out_layout
nn.upsampling: scale_h scale_w layout method align_corners
nn.upsampling3d: scale_d scale_h scale_w layout method coordinate_transformation_mode
nn.depth_to_space|nn.space_to_depth: block_size layout mode
nn.space_to_batch_nd: block_shape paddings pad_value
nn.batch_to_space_nd: block_shape crops
dyn.reshape: newshape allowzero
dyn.broadcast_to: dtype
dyn.tile:
dyn.topk: axis ret_type is_ascend dtype
dyn.one_hot: axis dtype
dyn.expand_dims: num_newaxis
dyn.squeeze:
dyn.strided_slice: slice_mode
dyn.sparse_to_dense:
dyn.nn.pad: pad_mode
dyn.nn.upsampling: layout method align_corners
dyn.nn.upsampling3d: layout method coordinate_transformation_mode
dyn.image.resize2d: layout method coordinate_transformation_mode rounding_method cubic_alpha cubic_exclude out_dtype
image.resize|image.resize1d|image.resize2d|image.resize3d: size roi layout method coordinate_transformation_mode \
rounding_method cubic_alpha cubic_exclude extrapolation_value out_dtype
image.crop_and_resize: crop_size layout method extrapolation_value out_dtype
image.dilation2d: strides padding dilations data_layout kernel_layout out_dtype
image.affine_grid: target_shape
image.grid_sample: method layout padding_mode align_corners
vision.multibox_prior: sizes ratios steps offsets clip
vision.multibox_transform_loc: clip threshold variances keep_background
vision.get_valid_counts: score_threshold id_index score_index
vision.non_max_suppression: {_NMS}
vision.all_class_non_max_suppression: output_format
vision.regular_non_max_suppression: max_detections_per_class max_detections num_classes iou_threshold score_threshold
vision.roi_align: pooled_size spatial_scale sample_ratio layout mode
vision.roi_pool: pooled_size spatial_scale layout
vision.proposal: scales ratios feature_stride threshold rpn_pre_nms_top_n rpn_post_nms_top_n rpn_min_size iou_loss
vision.yolo_reorg: stride
contrib.adaptive_avg_pool2d|contrib.adaptive_max_pool2d: output_size layout
random.threefry_generate: out_shape
random.threefry_split:
random.uniform: out_shape out_dtype low high
random.normal: out_shape out_dtype mean scale
random.multinomial: num_samples
memory.alloc_storage: device_type device_id dtype se_scope virtual_device
memory.alloc_tensor: dtype const_shape assert_shape
memory.invoke_tvm_op|vm.invoke_tvm_op: in_out
memory.kill:
memory.shape_func|vm.shape_func: is_input
memory.flatten_tuple|memory.from_tuple|memory.flatten_from_tuple:
vm.shape_of: dtype
vm.reshape_tensor: newshape
qnn.quantize: out_dtype axis
qnn.dequantize: axis out_dtype
qnn.requantize: axis rounding compute_dtype out_dtype
qnn.add|qnn.subtract|qnn.mul: lhs_axis rhs_axis
qnn.concatenate: axis
qnn.conv2d|qnn.conv2d_transpose: {_CONV} output_padding
qnn.dense|qnn.contrib_dense_pack: {_DENSE} weight_layout
qnn.batch_matmul: out_dtype
qnn.softmax: axis
qnn.leaky_relu: alpha
qnn.avg_pool2d: {_POOL} count_include_pad
qnn.abs|qnn.relu|qnn.tanh|qnn.sigmoid|qnn.exp|qnn.log|qnn.sqrt|qnn.rsqrt|qnn.erf|qnn.hardswish:
debug: func
on_device: virtual_device constrain_result constrain_body device_type is_fixed
"""

# Attributes that any call may carry.
COMMON_ATTRIBUTES = frozenset(("attrs_type_key", "__dict__", "relay.attrs", "schedule_rule", "virtual_device"))


def _read_table(table: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in filter(None, table.splitlines()):
        names, _, attributes = line.partition(":")
        for name in names.split("|"):
            found[name] = frozenset(attributes.split())
    return MappingProxyType(found)


ATTRIBUTES_OF: Mapping[str, frozenset[str]] = _read_table(_TABLE)
_NAMESPACES = frozenset(name.split(".")[0] for name in ATTRIBUTES_OF if "." in name)


def is_foreign(name: str) -> bool:
    """Tell whether a name belongs to a name space that Relay itself does not have, such as `ethosu.conv2d`."""
    return "." in name and name.split(".")[0] not in _NAMESPACES
