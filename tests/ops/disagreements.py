"""Where the pinned apache-tvm differs from this table, or does not run, each with the reason."""

from collections.abc import Mapping
from types import MappingProxyType

_CRASH = "the wheel ends the process"
_BOUNDS = "it needs bounds whose number is a constant, also where the rank says it"
_LENGTH = "it needs a vector whose length is a constant"
_FRONT = "its axis counts from the front only"

# A key is an operator, or the whole name of a case. These are not given to the wheel at all.
NOT_GIVEN: Mapping[str, str] = MappingProxyType(
    {
        "nn.pixel_shuffle": f"{_CRASH}: its type rule reads symbolic channels as a number; and it has no lowering",
        "split (4,) (2, 9) along 0": "its kernel writes behind the end of a part that is empty",
        "index_put (1,) True": "it reads behind the end of a single value, where the indices are three",
        "grad.max_pool2d_backward with strides": "it reads behind the data where no window reaches its end",
        "dist.annotate_sharding": "it takes a device mesh of the module, not a word",
        "dist.redistribute": "it takes a device mesh of the module, not a word",
    }
)

TYPES: Mapping[str, str] = MappingProxyType(
    {
        "meshgrid (2, 3) xy": "its type keeps the order of the vectors, its kernel exchanges the first two axes",
        "quantize to int32": "it quantizes to 8 and 16 bits only",
        "strided_slice (6,) (4,):(2,):(1,)": "its type of an empty slice has a negative size",
        **{
            f"vision.all_class_non_max_suppression {words}": "its type has room for all boxes, its value has not"
            for words in ("1 1 2 0.5 0.0", "1 2 3 0.5 0.0", "2 1 4 0.9 0.2", "1 1 1 0.1 0.0", "1 3 2 0.5 5.0")
        },
        "tensor_to_shape of (2, 3)": _LENGTH,
        "tensor_to_shape of (0, 3)": _LENGTH,
        "tensor_to_shape of (3, 1, 2)": _LENGTH,
        "tensor_to_shape of (5, 4)": _LENGTH,
        "scatter_nd elements": "it needs indices whose last size is a constant",
        "dynamic_strided_slice (6, 5) ([1, 0], [4, 5], [1, 2])": _BOUNDS,
        "dynamic_strided_slice (6, 5) ([0, 0], [6, 5], [1, 1])": _BOUNDS,
        "dynamic_strided_slice (6, 5) ([5, 4], [0, 1], [-1, -2])": _BOUNDS,
        "dynamic_strided_slice (2, 3, 4) ([0, 1, 0], [2, 3, 2], [1, 1, 1])": _BOUNDS,
        "ccl.scatter_from_worker0 (2, 3, 8) of 4 along -1": _FRONT,
        "dist.redistribute_replica_to_shard (2, 3, 8) of 4 along -1": _FRONT,
    }
)

VALUES: Mapping[str, str] = MappingProxyType(
    {
        "ewise_fma": "it has no lowering; a device library must take it",
        "nn.conv2d to NHWC": "it cannot lower a convolution whose result has another layout",
        "nn.adaptive_avg_pool1d to None": "its lowering takes the size for granted",
        "nn.instance_norm negative channel": "its lowering takes a channel axis that counts from the front",
        "nn.rms_norm of a vector": "its lowering loses the only axis of a vector",
        "nn.attention_var_len": "it has no lowering; a device library must take it",
        "strided_slice (6,) (4,):(2,):(1,)": "its lowering refuses an empty slice",
        "grad.take_backward (4, 5) [[0, 1], [4, 1]] along 1": "its lowering takes a vector of indices",
        "vision.all_class_non_max_suppression tensorflow 1": "it keeps to a limit only if that is a constant",
        "wrap_param": "it has no lowering; LiftTransformParams removes it",
        "unique with all (True, True, True)": "its inverse has the shape of the data, against its own type",
        "unique unsorted (False, True, False)": "its inverse has the shape of the data, against its own type",
    }
)


def reason(table: Mapping[str, str], case: object) -> str | None:
    """Return why a case is in a table."""
    name = str(case)
    return table.get(name) or table.get(name.split(" ", 1)[0])
