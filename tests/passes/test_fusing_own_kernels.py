"""What LegalizeOps makes here fuses as what it makes in apache-tvm does, with a batch of 1 too."""

import re

import pytest

import relax_core as rc
from benchmarks.relax_stages import text_of
from relax_core.analysis.tir_pattern import prim_func_kind
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from tests.apache_tvm import relax, tvm
from tests.passes.wheel import in_tvm

OPERATORS = (
    ("R.add(x, y)", (1, 8, 4, 4), (1, 8, 1, 1)),
    ("R.add(x, y)", (1, 8), (8,)),
    ("R.multiply(x, y)", (1, 8), (1, 8)),
    ("R.add(x, y)", (2, 8), (1, 8)),
    ("R.exp(x)", (1, 1, 8), (1,)),
    ("R.matmul(x, y)", (1, 4, 8), (1, 8, 8)),
    ("R.matmul(x, y)", (1, 8), (8, 8)),
    ("R.nn.softmax(x)", (1, 8), (1,)),
    ("R.nn.gelu(x)", (1, 8), (1,)),
    ("R.permute_dims(x, axes=[0, 2, 1])", (1, 4, 8), (1,)),
    ("R.reshape(x, R.shape([1, 32]))", (1, 4, 8), (1,)),
    ("R.clip(x, 0, 1)", (1, 8), (1,)),
    ("R.concat((x, y), axis=1)", (1, 8), (1, 8)),
    ("R.strided_slice(x, axes=[1], begin=[0], end=[4])", (1, 8), (1,)),
    ("R.strided_slice(x, axes=[1], begin=[2], end=[6])", (1, 8), (1,)),
    ("R.nn.layer_norm(x, y, y, axes=[-1])", (1, 4, 8), (8,)),
    ("R.nn.conv2d(x, y, padding=(1, 1))", (1, 8, 4, 4), (8, 8, 3, 3)),
    ("R.nn.max_pool2d(x, (2, 2), (2, 2))", (1, 8, 4, 4), (1,)),
    ("R.mean(x, axis=[2, 3], keepdims=True)", (1, 8, 4, 4), (1,)),
)
RESIDUAL = """    @R.function
    def main(
        x: R.Tensor((1, 16, 8, 8), "float32"), w: R.Tensor((16, 16, 3, 3), "float32"),
        b: R.Tensor((1, 16, 1, 1), "float32"),
    ):
        with R.dataflow():
            first = R.nn.relu(R.add(R.nn.conv2d(x, w, padding=(1, 1)), b))
            second = R.add(R.nn.conv2d(first, w, padding=(1, 1)), b)
            y = R.nn.relu(R.add(second, x))
            R.output(y)
        return y
"""


@pytest.mark.parametrize(("operator", "x", "y"), OPERATORS)
def test_kernels_are_of_the_kind_that_tvm_finds_in_its_own(
    operator: str, x: tuple[int, ...], y: tuple[int, ...]
) -> None:
    text = f"""    @R.function
    def main(x: R.Tensor({x}, "float32"), y: R.Tensor({y}, "float32")):
        with R.dataflow():
            z = R.nn.relu({operator})
            R.output(z)
        return z
"""
    theirs = in_tvm(text)
    ours = rc.run_pipeline(rc.parse(text_of(theirs)), "LegalizeOps")[-1].after
    assert kinds(ours) == kinds(rc.parse(text_of(relax.transform.LegalizeOps()(theirs))))


def test_a_residual_block_of_batch_1_is_two_kernels() -> None:
    theirs = in_tvm(RESIDUAL)
    ours = rc.run_pipeline(rc.parse(text_of(theirs)), "zero")[-1].after
    with tvm.target.Target("llvm"):
        wanted = text_of(relax.get_pipeline("zero")(theirs))
    assert called(rc.script(ours)) == called(wanted) == ["fused_conv2d_add_relu", "fused_conv2d_add_add1_relu"]


def kinds(module: IRModule) -> list[int]:
    """Return what FuseOps takes the prim funcs for, sorted."""
    return sorted(prim_func_kind(item) for item in map(module.__getitem__, module.names) if isinstance(item, PrimFunc))


def called(text: str) -> list[str]:
    """Return the kernels that `main` calls, in order."""
    main = text[text.index("def main(") :]
    return re.findall(r"call_tir\((?:cls|Module)\.(\w+)", main[: main.index("return ")])
