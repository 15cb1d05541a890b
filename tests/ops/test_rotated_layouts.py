"""A layout that rotates or reverses an axis moves every element, where apache-tvm loses one or refuses."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from benchmarks.relax_stages import text_of
from relax_core.ir.module import IRModule
from tests.apache_tvm import relax
from tests.passes.wheel import in_tvm

ELEMENTS = np.arange(16, dtype=np.float32)


def text_with(mapping: str) -> str:
    return (
        "    @R.function\n    def main(x: R.Tensor((16,), 'float32')):\n"
        f"        y = R.layout_transform(x, index_map={mapping})\n        return y\n"
    )


def run(module: IRModule) -> Any:
    return rc.VirtualMachine(rc.build(module))["main"](ELEMENTS)


@pytest.mark.parametrize(
    ("mapping", "moved"),
    [
        ("lambda i: ((i + 1) % 16,)", (ELEMENTS + 15) % 16),
        ("lambda i: ((i * 3) % 16,)", (ELEMENTS * 11) % 16),
        ("lambda i: (15 - i,)", ELEMENTS[::-1]),
    ],
)
def test_every_element_moves(mapping: str, moved: Any) -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{text_with(mapping)}")
    np.testing.assert_array_equal(run(module), moved)
    np.testing.assert_array_equal(run(rc.run_pipeline(module, "LegalizeOps")[-1].after), moved)


@pytest.mark.tvm
def test_tvm_pads_a_rotated_axis_and_loses_what_it_rotates_to_the_front() -> None:
    theirs = relax.transform.LegalizeOps()(in_tvm(text_with("lambda i: ((i + 1) % 16,)")))
    np.testing.assert_array_equal(run(rc.parse(text_of(theirs))), [0, *ELEMENTS[:-1]])
