"""Tensors that cannot exist are errors of check, in Relax and in Relay, at the operator that would make them."""

import pytest

import relax_core as rc

IMAGE = 'x: R.Tensor((1, 3, 4, 4), "float32"), w: R.Tensor((8, 3, 7, 7), "float32")'
RELAY_IMAGE = "%x: Tensor[(1, 3, 4, 4), float32], %w: Tensor[(8, 3, 7, 7), float32]"
ONES = ", ".join(["1"] * 65)
RELAX = {
    "R.nn.conv2d(x, w)": "TY078",
    "R.nn.conv2d(x, w, strides=4)": "TY078",
    "R.nn.conv2d(x, w, padding=-3)": "TY078",
    "R.nn.max_pool2d(x, pool_size=(9, 9))": "TY078",
    "R.nn.avg_pool2d(x, pool_size=(5, 5), strides=8)": "TY078",
    "R.nn.max_pool2d(x, pool_size=(2, 2), dilation=(9, 9))": "TY078",
    'R.nn.conv2d_transpose(x, R.zeros(R.shape([3, 8, 2, 2]), "float32"), padding=9)': "TY074",
    "R.nn.pad(x, (0, 0, 0, 0, -3, -3, 0, 0))": "TY074",
    "R.image.resize2d(x, R.shape([-2, 3]))": "TY074",
    'R.zeros(R.shape([-2]), "float32")': "TY074",
    "R.repeat(x, -1)": "TY074",
    "R.tile(x, [-1])": "TY074",
    "R.eye(-1)": "TY074",
    'R.builtin.alloc_tensor(R.shape([-16]), R.dtype("float32"), 0)': "TY074",
    'R.memory.alloc_storage(R.shape([-16]), 0, R.str("global"), R.dtype("float32"))': "TY074",
    'R.ones(R.shape([4611686018427387904, 4]), "float32")': "TY076",
    f'R.ones(R.shape([{ONES}]), "float32")': "TY075",
    "R.topk(x, k=99)": "TY079",
    "R.strided_slice(x, [2], [0], [99], assume_inbound=True)": "TY079",
    "R.split(x, [-9], 2)": "TY079",
    'R.astype(x, "float99")': "TY080",
    'R.astype(x, "float32x4")': "TY080",
    'R.astype(x, "\\ud800")': "TY080",
}
RELAY = {
    "nn.conv2d(%x, %w, channels=8, kernel_size=[7, 7], strides=[4, 4])": "RY009",
    "nn.max_pool2d(%x, pool_size=[6, 6], strides=[4, 4])": "RY009",
    "sliding_window(%x, axis=2, window_shape=[5, 5], strides=[9, 9])": "RY009",
    "nn.pad(%x, pad_width=[[0, 0], [0, 0], [-3, -3], [0, 0]])": "TY074",
    "image.crop_and_resize(%x, %w, %w, crop_size=[-1, 3])": "TY074",
    "nn.batch_to_space_nd(%x, block_shape=[1, 1], crops=[[9, 9], [0, 0]])": "TY074",
    "tile(%x, reps=[-1])": "TY074",
    'zeros(shape=[-1], dtype="float32")': "TY074",
    "expand_dims(%x, axis=0, num_newaxis=70)": "TY075",
    'cast(%x, dtype="float99")': "TY080",
}
SHAPES = {
    "(-1, 3)": "TY074",
    "(9223372036854775808,)": "TY076",
    "(4611686018427387904, 4, 4)": "TY076",
    f"({ONES})": "TY075",
    '("n", "n // 0")': "TY077",
}
FINE = (
    "R.nn.max_pool2d(x, pool_size=(6, 6), strides=(4, 4), ceil_mode=True)",
    "R.nn.conv2d(x, w, padding=2)",
    "R.nn.pad(x, (0, 0, 0, 0, -1, -1, 0, 0))",
    "R.tile(x, [0])",
    'R.astype(x, "float8_e4m3fn")',
    "R.strided_slice(x, [2], [0], [99])",
    "R.topk(x, k=4)",
    "R.repeat(x, 0)",
)


def errors(text: str, name: str) -> list[str]:
    try:
        module = rc.parse(text, name)
    except rc.CompileError as error:
        return [item.code for item in error.diagnostics]
    found = [item for item in rc.check(module) if item.severity == "error"]
    assert all(item.span is not None for item in found)
    return [item.code for item in found]


def main(expression: str, params: str = IMAGE) -> str:
    head = f"@I.ir_module\nclass M:\n    @R.function\n    def main({params}):\n"
    return f"{head}        y = {expression}\n        return y\n"


@pytest.mark.parametrize(("expression", "code"), RELAX.items(), ids=lambda item: item[:50])
def test_an_operator_that_gives_no_tensor_is_refused_once(expression: str, code: str) -> None:
    assert errors(main(expression), "m.py") == [code]


@pytest.mark.parametrize(("expression", "code"), RELAY.items(), ids=lambda item: item[:50])
def test_an_operator_of_relay_that_gives_no_tensor_is_refused_once(expression: str, code: str) -> None:
    assert errors(f"def @main({RELAY_IMAGE}) {{ abs({expression}) }}\n", "m.relay") == [code]


@pytest.mark.parametrize(("shape", "code"), SHAPES.items(), ids=lambda item: item[:30])
def test_a_declared_tensor_that_cannot_exist_is_refused_once(shape: str, code: str) -> None:
    assert errors(main("R.exp(x)", f'x: R.Tensor({shape}, "float32")'), "m.py") == [code]
    buffer = shape.replace('"', "")
    head = '@T.prim_func\ndef f(a: T.Buffer((4,), "float32"), n: T.int64):\n'
    head = '@T.prim_func\ndef f(a: T.Buffer((4,), "float32"), n: T.int64):\n'
    text = f'{head}    c = T.alloc_buffer({buffer}, "float32")\n    a[0] = T.float32(1)\n'
    assert errors(text, "m.py") == [code]


@pytest.mark.parametrize("expression", FINE)
def test_tensors_without_elements_and_narrow_dtypes_exist(expression: str) -> None:
    assert errors(main(expression), "m.py") == []
