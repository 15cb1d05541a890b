"""The library by name: which function computes what the table of schemas declares."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from relax_core.vm.packed_library import arrange, elementwise, images, reduce
from relax_core.vm.packed_library.arrays import Given

LIBRARY: Mapping[str, Callable[[Given], Any]] = MappingProxyType(
    {
        "libtorch_add": elementwise.add,
        "libtorch_add_out": elementwise.add_out,
        "libtorch_any": reduce.is_any,
        "libtorch_arange": elementwise.arange,
        "libtorch_batch_norm": images.batch_norm,
        "libtorch_cat": arrange.cat,
        "libtorch_clamp_out": elementwise.clamp_out,
        "libtorch_constant_pad_nd": arrange.constant_pad_nd,
        "libtorch_cumsum": reduce.cumsum,
        "libtorch_einsum": arrange.einsum,
        "libtorch_fill_": elementwise.fill,
        "libtorch_flip": arrange.flip,
        "libtorch_full": elementwise.full,
        "libtorch_gelu": elementwise.gelu,
        "libtorch_gelu_out": elementwise.gelu_out,
        "libtorch_index_select": arrange.index_select,
        "libtorch_item": elementwise.item,
        "libtorch_layer_norm": images.layer_norm,
        "libtorch_leaky_relu_out": elementwise.leaky_relu_out,
        "libtorch_mean": reduce.mean,
        "libtorch_native_layer_norm_backward": images.native_layer_norm_backward,
        "libtorch_norm": reduce.norm,
        "libtorch_roll": arrange.roll,
        "libtorch_slow_conv2d_forward_out": images.slow_conv2d_forward_out,
        "libtorch_softmax": reduce.softmax,
        "libtorch_split": arrange.split,
        "libtorch_stack": arrange.stack,
        "libtorch_sum": reduce.total,
        "libtorch_topk": reduce.topk,
        "libtorch_unique": reduce.unique,
        "libtorch_upsample_nearest2d": images.upsample_nearest2d,
        "libtorch_where": elementwise.where,
    }
)
