"""How an operator of Relay uses the elements of its inputs: what fusion and patterns ask."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.spec import PatternKind

KIND_NUMBERS: Mapping[PatternKind, int] = MappingProxyType(
    {
        "elementwise": 0,
        "broadcast": 1,
        "injective": 2,
        "reduce": 3,
        "out_fusable": 4,
        "tuple": 7,
        "opaque": 8,
    }
)
"""The numbers of TVM's `TOpPattern`."""

# Where Relay's operator is another than the operator of Relax that it becomes, or has none.
_GROUPS: tuple[tuple[PatternKind, str], ...] = (
    ("elementwise", "copy fast_erf fast_exp fast_tanh fixed_point_multiply log10 log2 reinterpret"),
    ("broadcast", "nn.bias_add"),
    (
        "injective",
        "nn.batch_to_space_nd nn.space_to_batch_nd nn.space_to_depth nn.upsampling nn.upsampling3d "
        "image.crop_and_resize image.resize1d image.resize2d image.resize3d sequence_mask unravel_index "
        "auto_scheduler_layout_transform",
    ),
    ("reduce", "all any"),
    (
        "out_fusable",
        "contrib.adaptive_avg_pool2d contrib.adaptive_max_pool2d nn.adaptive_max_pool1d "
        "nn.adaptive_max_pool2d nn.adaptive_max_pool3d nn.conv2d_backward_weight nn.deformable_conv2d "
        "nn.global_avg_pool1d nn.global_avg_pool2d nn.global_avg_pool3d nn.global_max_pool1d "
        "nn.global_max_pool2d nn.global_max_pool3d nn.l2_normalize nn.softmax one_hot",
    ),
    (
        "opaque",
        "annotation.compiler_begin annotation.compiler_end annotation.stop_fusion device_copy "
        "nn.group_norm nn.instance_norm nn.layer_norm nn.log_softmax on_device searchsorted",
    ),
)
_OWN: Mapping[str, PatternKind] = MappingProxyType({name: kind for kind, names in _GROUPS for name in names.split()})


def pattern_kind(name: str) -> PatternKind:
    """Return how the operator `name` uses the elements of its inputs; one that is not known is opaque.

    See: tvm/include/tvm/relay/op_attr_types.h, v0.19
    """
    if name in _OWN:
        return _OWN[name]
    spec = RELAY_OPS.get(name)
    return OPS[spec.relax[0]].pattern_kind if spec is not None and spec.relax else "opaque"
