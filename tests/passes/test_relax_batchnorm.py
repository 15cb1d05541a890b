"""A batch normalization is folded into the convolution before it, and the values stay the same."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import pass_
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, passed, remarks, same_values

NAME = "FoldBatchnormToConv2D"
GENERATOR = np.random.default_rng(0)
WEIGHTS = {name: GENERATOR.uniform(0.5, 1, (4,)).astype("float32") for name in "gbmv"}
KERNELS = {"OIHW": (4, 3, 3, 3), "IOHW": (3, 4, 3, 3)}


def program(norm: str = "axis=1, training=False", kernel: str = "OIHW", sizes: str = "1, 3, 8, 8") -> str:
    return f"""
    @R.function
    def main(
        x: R.Tensor(({sizes}), "float32"),
        g: R.Tensor((4,), "float32"),
        b: R.Tensor((4,), "float32"),
        m: R.Tensor((4,), "float32"),
        v: R.Tensor((4,), "float32"),
        w: R.Tensor({KERNELS[kernel]}, "float32"),
    ):
        with R.dataflow():
            c = R.nn.conv2d(x, w, kernel_layout="{kernel}")
            n = R.nn.batch_norm(c, g, b, m, v, {norm})
            q = n[0]
            R.output(q)
        return q
"""


def weights(kernel: str = "OIHW") -> dict[str, np.ndarray]:
    return {**WEIGHTS, "w": np.random.default_rng(1).uniform(-1, 1, KERNELS[kernel]).astype("float32")}


def folded(text: str, kernel: str = "OIHW") -> Stage:
    bound = rc.run_pipeline(parse(text), [pass_("BindParams", params=weights(kernel))])[-1].after
    return passed(bound, NAME)


def test_a_normalization_is_folded_as_in_tvm() -> None:
    text = program()
    stage = folded(text)
    bound = relax.transform.BindParams("main", {k: tvm.runtime.tensor(v) for k, v in weights().items()})
    theirs = getattr(relax.transform, NAME)()(bound(in_tvm(text)))
    # The data of constants are not in the text of TVM: the operators are compared.
    assert operators(rc.script(stage.after)) == operators(theirs.script())
    assert remarks(stage, "applied")[0] == "q: the weights are scaled instead of the result"
    same_values(stage.before, stage.after, rtol=1e-4)
    assert not rc.run_pipeline(stage.after, NAME)[-1].is_changed


def test_weights_with_the_inputs_first_are_scaled() -> None:
    # TVM stops with an AttributeError.
    stage = folded(program(kernel="IOHW"), "IOHW")
    assert remarks(stage, "applied")[0] == "q: the weights are scaled instead of the result"
    same_values(stage.before, stage.after, rtol=1e-4)


def operators(text: str) -> list[str]:
    return [line.split("= R.")[1].split("(")[0] for line in text.splitlines() if "= R." in line]


@pytest.mark.parametrize(
    ("norm", "words"),
    [
        # TVM folds these all, and the values are others.
        ("axis=1, training=True", "in training it takes the statistics of its input"),
        ("axis=2, training=False", "the channels are not its second axis"),
        ("axis=1, training=False, center=False", "it has no scale or no center"),
        ("axis=1, training=False, scale=False", "it has no scale or no center"),
    ],
)
def test_what_is_no_scale_of_channels_stays(norm: str, words: str) -> None:
    stage = folded(program(norm, sizes="1, 3, 6, 8"))
    assert not stage.is_changed
    assert remarks(stage, "missed")[0].startswith(f"q stays: {words}")


def test_weights_that_are_no_constants_stay() -> None:
    stage = passed(parse(program()), NAME)
    assert not stage.is_changed
    words = "q stays: not all of its weights and statistics are constants; BindParams makes them so"
    assert remarks(stage, "missed") == [words]
