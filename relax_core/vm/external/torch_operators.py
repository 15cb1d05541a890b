"""PyTorch's own operators as packed functions, where the optional package torch is installed.

`libtorch_<op>` names that the library has not lead to ATen's operator `<op>`, `libtorch_<op>_out` to its overload that
writes into a given tensor, `libtorch_max.dim` to the overload `dim`. Their schemas are PyTorch's. Only names on a list
of pure operators are looked up: no random numbers, no files, no state. A worker process asks for them; no other
process of RelaxScope does.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from relax_core.ops.dtypes import BFLOAT16
from relax_core.ops.packed.schema import Schema, SchemaError, parse_schema
from relax_core.ops.packed.spec import PackedSpec
from relax_core.vm.external.packed import HOST, Packed, packed_of
from relax_core.vm.packed_library.arrays import ArgumentError, Given

PREFIX: Final = "libtorch_"
_PURE_OPERATORS: Final = """
abs acos acosh adaptive_avg_pool2d addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax angle any arange
argmax argmin argsort asin asinh atan atan2 atanh avg_pool1d avg_pool2d avg_pool3d baddbmm batch_norm bitwise_and
bitwise_not bitwise_or bitwise_xor bmm bucketize cat cdist ceil celu channel_shuffle cholesky clamp clamp_max
clamp_min conv1d conv2d conv3d conv_transpose2d convolution copysign cos cosh cosine_similarity count_nonzero cov
cross cummax cummin cumprod cumsum deg2rad diag diag_embed diagonal diff digamma dist div dot einsum elu embedding
eq erf erfc erfinv exp exp2 expand expm1 eye flatten flip fliplr flipud floor floor_divide fmax fmin fmod frac full
full_like gather gcd ge gelu glu grid_sampler group_norm gt hardshrink hardsigmoid hardswish hardtanh heaviside
histc hypot i0 im2col index_add index_copy index_fill index_select instance_norm isclose isfinite isinf isnan kron
kthvalue layer_norm lcm le leaky_relu lerp lgamma linspace log log10 log1p log2 log_sigmoid log_softmax logaddexp
logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logsumexp lt masked_fill masked_select
matmul max max_pool1d max_pool2d maximum mean median min minimum mish mm mode movedim mse_loss mul mv nan_to_num
nanmean nanmedian nansum narrow ne neg nextafter nll_loss nonzero norm one_hot ones ones_like outer pad
pairwise_distance permute pixel_shuffle pixel_unshuffle polygamma pow prelu prod quantile rad2deg reciprocal relu
relu6 remainder renorm repeat repeat_interleave reshape roll rot90 round rsqrt rsub scatter scatter_add searchsorted
select selu sgn sigmoid sign signbit silu sin sinc sinh slice smooth_l1_loss softmax softplus softshrink
sort special_entr split sqrt square squeeze stack std sub sum swapaxes t take take_along_dim tan tanh tensordot
threshold tile topk trace transpose trapezoid tril triu true_divide trunc unbind unfold unsqueeze
upsample_bilinear2d upsample_nearest2d vander var vdot where xlogy zeros zeros_like
"""
ALLOWED: Final = frozenset(_PURE_OPERATORS.split())
_OVERLOADS: Final = ("", "Tensor", "dim_IntList", "dim", "int", "self", "vec")
_SKIPPED: Final = re.compile(
    r", (?:Generator|Layout|Device|MemoryFormat|Dimname)\? \w+=None|, (?:Generator|MemoryFormat|Layout|Device)\? \w+"
)
_PIN_MEMORY: Final = re.compile(r", bool\? pin_memory=None")


@dataclass(frozen=True, slots=True)
class _Operator:
    """One overload of an operator and its schema."""

    call: Any
    schema: Schema


def enable() -> None:
    """Let programs of this process call PyTorch's operators, if torch is there; for a worker process.

    A worker makes `declaration` known before, since checking a program asks for it.
    """
    HOST.add_source(packed)


def forget() -> None:
    """Look for the package anew at the next call; for tests."""
    _torch.cache_clear()
    _operator.cache_clear()


def declaration(name: str) -> PackedSpec | None:
    """Return what PyTorch declares about `name`; `None` for a name that is not allowed, or without torch."""
    found = _operator(name)
    if found is None:
        return None
    schema = found.schema
    writes = tuple(index for index, param in enumerate(schema.params) if param.type.is_written)
    summary = "PyTorch's own operator."
    return PackedSpec(name, schema.params, schema.results, writes, not writes, summary, "pytorch/aten/src/ATen/native")


def packed(name: str) -> Packed | None:
    """Return PyTorch's operator as a packed function; `None` for a name that is not allowed, or without torch."""
    found, spec = _operator(name), declaration(name)
    if found is None or spec is None:
        return None
    return replace(packed_of(spec, lambda given: _run(found, given)), is_repeatable=True)


def base_name(name: str) -> str | None:
    """Return the name of the operator that `libtorch_<op>` or `libtorch_<op>_out` names, if it is allowed."""
    base = name.removeprefix(PREFIX).partition(".")[0]
    known = (item for item in (base, base.removesuffix("_out")) if item in ALLOWED)
    return next(known, None) if name.startswith(PREFIX) else None


@lru_cache(maxsize=256)
def _operator(name: str) -> _Operator | None:
    base = base_name(name)
    torch = None if base is None else _torch()
    if base is None or torch is None:
        return None
    short, _, asked = name.removeprefix(PREFIX).partition(".")
    is_out = short != base
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{base}")
    of_overload = {str(item.overload_name): str(item) for item in schemas}
    for overload in sorted(of_overload, key=_order) if not asked else {asked} & set(of_overload):
        schema = read_schema(of_overload[overload], name)
        if schema is not None and any(param.type.is_written for param in schema.params) == is_out:
            return _Operator(getattr(getattr(torch.ops.aten, base), overload or "default"), schema)
    return None


def _order(overload: str) -> int:
    plain = overload.removesuffix("_out").removesuffix("out")
    return _OVERLOADS.index(plain) if plain in _OVERLOADS else len(_OVERLOADS)


def read_schema(text: str, name: str) -> Schema | None:
    """Read a schema of PyTorch without what has no meaning here, devices and generators; `None` if that fails."""
    text = _SKIPPED.sub("", _PIN_MEMORY.sub("", text.replace("SymInt", "int")))
    text = re.sub(r"Tensor\((\w+)(?: -> \*)?\)", "Tensor", text)
    text = re.sub(r", \*(?=\))", "", text)
    # An empty list that stands for a default, such as a stride that is the size of the kernel.
    text = re.sub(r"\[\d+\](?= \w+=\[\])", "[]", text)
    try:
        return parse_schema(re.sub(r"^[\w:.]+", name, text))
    except SchemaError:
        return None


@lru_cache(maxsize=1)
def _torch() -> Any:
    """Import the package, which takes a second; `None` if it is not installed."""
    try:
        import torch  # pyright: ignore[reportMissingImports]  # an optional package
    except ImportError:
        return None
    module = cast("Any", torch)
    module.set_num_threads(1)
    return module


def _run(operator: _Operator, given: Given) -> Any:
    torch = _torch()
    values = {
        param.name: _to_torch(torch, given.value_of[param.name], is_dtype=param.type.base == "ScalarType")
        for param in operator.schema.params
    }
    positional = [values[param.name] for param in operator.schema.params if not param.is_keyword]
    named = {param.name: values[param.name] for param in operator.schema.params if param.is_keyword}
    try:
        with torch.no_grad():
            result = operator.call(*positional, **named)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
        raise ArgumentError(str(error).splitlines()[0]) from None
    return None if any(param.type.is_written for param in operator.schema.params) else _to_numpy(torch, result)


def _to_torch(torch: Any, value: Any, *, is_dtype: bool) -> Any:
    match value:
        case np.ndarray():
            array = cast("np.ndarray[Any, Any]", value)
            shared = array if array.flags.writeable else array.copy()
            if str(array.dtype) == "bfloat16":
                return torch.from_numpy(shared.view(np.int16)).view(torch.bfloat16)
            return torch.from_numpy(shared)
        case tuple():
            items = cast("tuple[Any, ...]", value)
            return [_to_torch(torch, item, is_dtype=is_dtype) for item in items]
        case str() if is_dtype:
            return getattr(torch, value)
        case _:
            return value


def _to_numpy(torch: Any, value: Any) -> Any:
    if isinstance(value, list | tuple):
        items = cast("tuple[Any, ...]", value)
        return tuple(_to_numpy(torch, item) for item in items)
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().contiguous().clone()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.int16).numpy().view(BFLOAT16)
    return plain.numpy()
