"""Operators that Relax composes of several, beside what apache-tvm's operator library computes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from relax_core.ops.relay.nn.winograd import matrices
from tests.callables import Compute
from tests.passes.relay.operator_cases import f
from tests.passes.relay.running import agree, both

pytestmark = pytest.mark.tvm

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Composed:
    """A call on `%a`, `%b`, ..., its arguments, and the call of the library on their placeholders."""

    text: str
    args: tuple[Array, ...]
    library: Compute[Any, Any]

    def __str__(self) -> str:
        return self.text


def set_diagonal(low: int, high: int, align: str) -> Composed:
    above, below = (word == "RIGHT" for word in align.split("_"))
    given = f"k1={low}, k2={high}, super_diag_right_align={above}, sub_diag_right_align={below}"
    longest = max(min(3 + min(d, 0), 5 - max(d, 0)) for d in range(low, high + 1))
    diagonal = f(2, longest) if low == high else f(2, high - low + 1, longest)
    k = low if low == high else (low, high)
    return Composed(f"matrix_set_diag(%a, %b, {given})", (f(2, 3, 5), diagonal),
                    lambda topi, a, b: topi.matrix_set_diag(a, b, k, align))  # fmt: skip


def fourier(win_length: int, *, normalized: bool, onesided: bool) -> Composed:
    text = f"stft(%a, %b, n_fft=8, hop_length=3, win_length={win_length}, normalized={normalized}, onesided={onesided})"
    shape = (2, 5 if onesided else 8, 5, 2)
    return Composed(text, (f(2, 20), f(win_length)),
                    lambda topi, a, b: topi.stft(a, 8, 3, win_length, b, normalized, onesided, shape))  # fmt: skip


BOXES = np.array([[0.1, 0.2, 0.9, 0.8], [0, 0, 1, 1], [-0.2, 0.5, 1.3, 0.1]], "float32")
OF_IMAGE = np.array([0, 1, 1], "int32")


def crop(layout: str, method: str, *shape: int) -> Composed:
    attrs = f'crop_size=[4, 5], layout="{layout}", method="{method}", extrapolation_value=0.5f'
    return Composed(f"image.crop_and_resize(%a, %b, %c, {attrs})", (f(*shape), BOXES, OF_IMAGE),
                    lambda topi, a, b, c: topi.image.crop_and_resize(a, b, c, (4, 5), layout, method, 0.5))  # fmt: skip


def deformable(parts: int, padding: tuple[int, int], stride: int, step: int) -> Composed:
    attrs = f"strides=[{stride}, {stride}], padding=[{padding[0]}, {padding[1]}], dilation=[{step}, {step}]"
    given = f"{attrs}, kernel_size=[3, 2], channels=5, deformable_groups={parts}"
    rows = (7 + 2 * padding[0] - 2 * step - 1) // stride + 1
    columns = (6 + 2 * padding[1] - step - 1) // stride + 1
    args = (f(2, 4, 7, 6), f(2, parts * 12, rows, columns, low=-2.0, high=2.0), f(5, 4, 3, 2))
    return Composed(f"nn.deformable_conv2d(%a, %b, %c, {given})", args,
                    lambda topi, a, b, c: topi.nn.deformable_conv2d_nchw(
                        a, b, c, [stride, stride], list(padding), [step, step], parts, 1, "float32"))  # fmt: skip


def small(limit: int, *shape: int) -> Array:
    return np.random.default_rng(limit).integers(0, limit, shape).astype("int32")


PACKED = (
    Composed('nn.bitpack(%a, bits=2, pack_axis=1, bit_axis=1, pack_type="uint32")', (small(4, 2, 64, 3),),
             lambda topi, a: topi.nn.bitpack(a, 2, 1, 1, "uint32")),
    *(Composed(f'nn.bitserial_dense(%a, %b, units=3, data_bits=2, weight_bits=2, unipolar={is_unipolar})',
               (small(4, 2, 64), small(3, 3, 64)),
               lambda topi, a, b, is_unipolar=is_unipolar: topi.nn.bitserial_dense(
                   a, b, 2, 2, "uint32", "int16", is_unipolar)) for is_unipolar in (True, False)),
    *(Composed(f"nn.correlation(%a, %b, kernel_size=3, max_displacement=2, stride1=2, padding=[3, 3], "
               f"is_multiply={is_multiply})", (f(1, 2, 6, 6), f(1, 2, 6, 6)[..., ::-1].copy()),
               lambda topi, a, b, is_multiply=is_multiply: topi.nn.correlation_nchw(
                   a, b, 3, 2, 2, 1, (3, 3), is_multiply)) for is_multiply in (True, False)),
    Composed("vision.yolo_reorg(%a, stride=2)", (f(1, 8, 4, 6),), lambda topi, a: topi.cpp.vision.reorg(a, 2)),
)  # fmt: skip
CASES = (
    *PACKED,
    deformable(2, (0, 1), 2, 2),
    *(set_diagonal(k, k, "RIGHT_LEFT") for k in (0, -2)),
    *(set_diagonal(-1, 2, align) for align in ("RIGHT_LEFT", "LEFT_RIGHT")),
    fourier(8, normalized=False, onesided=True),
    fourier(6, normalized=True, onesided=False),
    Composed("image.dilation2d(%a, %b, strides=[2, 1], padding=[1, 1], dilations=[1, 2])",
             (f(1, 2, 7, 8), f(2, 3, 2)),
             lambda topi, a, b: topi.image.dilation2d_nchw(a, b, [2, 1], [1, 1], [1, 2])),
    Composed('image.dilation2d(%a, %b, strides=[1, 2], padding=[1, 0, 2, 1], data_layout="NHWC", kernel_layout="HWI")',
             (f(1, 7, 8, 2), f(3, 2, 2)),
             lambda topi, a, b: topi.image.dilation2d_nhwc(a, b, [1, 2], [1, 0, 2, 1], [1, 1])),
    crop("NCHW", "bilinear", 2, 3, 6, 7),
    crop("NHWC", "nearest_neighbor", 2, 6, 7, 3),
)  # fmt: skip


def program(case: Composed) -> str:
    typed = (f"%{name}: Tensor[({', '.join(map(str, arg.shape))},), {arg.dtype}]" for name, arg in named(case.args))
    return f"def @main({', '.join(typed)}) {{ {case.text} }}"


def named(args: tuple[Array, ...]) -> Iterable[tuple[str, Array]]:
    return zip("abc", args, strict=False)


def by_library(case: Composed) -> Array:
    from tests.apache_tvm import tvm

    inputs = [tvm.te.placeholder(arg.shape, str(arg.dtype), name) for name, arg in named(case.args)]
    given = [tvm.topi, *inputs]
    output = case.library(*given)
    return ran(tvm.te.create_prim_func([*inputs, output]), output, *case.args)


def ran(function: Any, output: Any, *args: Array) -> Array:
    from tests.apache_tvm import tvm

    built = tvm.compile(function, target="llvm")
    made = tvm.runtime.empty(tuple(int(size) for size in output.shape), output.dtype)
    built(*map(tvm.runtime.tensor, args), made)
    return made.numpy()


@pytest.mark.parametrize(("tile", "window"), [(2, 3), (4, 3), (3, 3), (4, 4), (6, 3)])
def test_winograds_matrices_are_those_of_the_library(tile: int, window: int) -> None:
    from tests.apache_tvm import tvm

    library = tvm.topi.nn.winograd_util.winograd_transform_matrices
    for made, wanted in zip(matrices(tile, window), library(tile, window, "float32"), strict=True):
        agree(made, ran(tvm.te.create_prim_func([wanted]), wanted))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_composed_operator_gives_what_the_library_gives(case: Composed) -> None:
    agree(both(program(case), *case.args), by_library(case))


def test_a_weight_in_tiles_is_a_matrix() -> None:
    data, weight = f(3, 4), f(16, 4)
    tiles = weight.reshape(2, 8, 4).transpose(0, 2, 1).copy()
    text = (
        "def @main(%a: Tensor[(3, 4), float32], %b: Tensor[(2, 4, 8), float32]) "
        '{ nn.contrib_dense_pack(%a, %b, units=16, weight_layout="NC8n") }'
    )
    agree(both(text, data, tiles), data @ weight.T)


@pytest.mark.parametrize(("groups", "inner"), [(1, 4), (8, 1)], ids=["dense", "by channel"])
def test_a_convolution_of_blocked_layouts_is_that_of_plain_ones(groups: int, inner: int) -> None:
    channels = 8 // groups
    data, weight = f(1, 8, 5, 5), f(8, channels, 3, 3)
    blocks = data.reshape(1, 2, 4, 5, 5).transpose(0, 1, 3, 4, 2).copy()
    tiles = weight.reshape(2, 4, channels // inner, inner, 3, 3).transpose(0, 2, 4, 5, 3, 1).copy()
    name = "conv2d" if groups == 1 else "depthwise_conv2d"
    attrs = f"padding=[1, 1, 1, 1], kernel_size=[3, 3], channels=8, groups={groups}"
    layouts = f'data_layout="NCHW4c", kernel_layout="OIHW{inner}i4o", out_layout="NCHW4c"'
    found = both(
        f"def @main(%a: Tensor[(1, 2, 5, 5, 4), float32], %b: Tensor[{tiles.shape}, float32]) "
        f"{{ nn.contrib_{name}_NCHWc(%a, %b, {attrs}, {layouts}) }}",
        blocks,
        tiles,
    )
    wanted = both(
        f"def @main(%a: Tensor[(1, 8, 5, 5), float32], %b: Tensor[{weight.shape}, float32]) "
        f"{{ nn.conv2d(%a, %b, {attrs}) }}",
        data,
        weight,
    )
    agree(found.transpose(0, 1, 4, 2, 3).reshape(1, 8, 5, 5), wanted)
