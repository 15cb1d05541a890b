"""How LLVM optimises a kernel: chosen by what its loops are written in, and with the same results in each case."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.pipelines import PIPELINES, Form, Pipeline, form_of, pipeline_of
from relax_core.jit.compilation.specialisation import source_of
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Kernel
from relax_core.jit.options import KernelOptions
from relax_core.jit.transforms.registry import TRANSFORMS
from tests.jit.programs import parsed, row_sum

ONE_THREAD = KernelOptions(threads=1)

CHOICES: tuple[tuple[str, Sequence[str], Sequence[int | None], Pipeline], ...] = (
    ("no loops", (), (), "written"),
    ("tiles", ("tile",), (), "written"),
    ("tiles in parts", ("split", "parallel", "tile", "rows"), (), "written"),
    ("tiles beside a single round", ("tile",), (1, 0), "written"),
    ("tiles beside a short loop", ("tile",), (2,), "loops"),
    ("tiles beside a long loop", ("tile",), (1, 4096), "even"),
    ("elements side by side", ("collapse",), (), "even"),
    ("elements behind tiles", ("tile", "collapse"), (), "even"),
    ("elements beside a loop of any length", ("collapse",), (None,), "loops"),
    ("a transformation that is not known here", ("tile", "another"), (), "loops"),
    ("a short loop beside a long one", (), (4096, 3), "loops"),
)


@pytest.mark.parametrize(("name", "transforms", "rounds", "expected"), CHOICES, ids=[item[0] for item in CHOICES])
def test_the_choice(name: str, transforms: Sequence[str], rounds: Sequence[int | None], expected: Pipeline) -> None:
    forms: set[Form] = {form_of(count) for count in rounds}
    assert pipeline_of(transforms, forms, has_vectors=False) == expected, name
    assert pipeline_of(transforms, forms, has_vectors=True) == "lanes"


def test_what_is_chosen_by_is_the_name_of_a_transformation() -> None:
    # Whatever is not named in the table of pipelines takes the one for loops as they stand.
    chosen = {item.name: pipeline_of((item.name,), set(), has_vectors=False) for item in TRANSFORMS}
    assert {name for name, pipeline in chosen.items() if pipeline == "loops"} <= {"lanes"}
    assert chosen["tile"] == chosen["rows"] == "written"


PRODUCT = parsed("""def f(A: T.Buffer((37, 61), "float32"), B: T.Buffer((61, 100), "float32"),
                       C: T.Buffer((37, 100), "float32")):
    for i, j, k in T.grid(37, 100, 61):
        with T.block("c"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")
TURNED = parsed("""def f(A: T.Buffer((70, 51), "float32"), B: T.Buffer((51, 70), "float32")):
    for i, j in T.grid(51, 70):
        B[i, j] = A[j, i]
""")
EXPONENTIAL = parsed("""def f(A: T.Buffer((33, 77), "float32"), B: T.Buffer((33, 77), "float32")):
    for i, j in T.grid(33, 77):
        B[i, j] = T.exp(A[i, j]) * A[i, j]
""")
BACKWARDS = parsed("""def f(A: T.Buffer((90,), "float32"), B: T.Buffer((90,), "float32")):
    for i in range(90):
        B[i] = A[i] if i < 2 else B[i - 2] + A[89 - i]
""")
LANES = parsed("""def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(16):
        B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] * T.Broadcast(T.float32(3), 4)
""")
UNTIL = parsed("""def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        B[i] = A[i]
        while B[i] < T.float32(100):
            B[i] = B[i] + T.float32(7)
""")
SHORT = parsed("""def f(A: T.Buffer((37, 9), "float32"), B: T.Buffer((9, 100), "float32"),
                     C: T.Buffer((37, 100), "float32")):
    for i, j, k in T.grid(37, 100, 9):
        with T.block("c"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")
KERNELS: dict[str, tuple[PrimFunc, Sequence[tuple[int, ...]], Pipeline]] = {
    "a product": (PRODUCT, ((37, 61), (61, 100), (37, 100)), "written"),
    "short sums": (SHORT, ((37, 9), (9, 100), (37, 100)), "loops"),
    "a transpose": (TURNED, ((70, 51), (51, 70)), "written"),
    "sums of rows": (row_sum(), ((45, 67), (45,)), "written"),
    "elements side by side": (EXPONENTIAL, ((33, 77), (33, 77)), "even"),
    "one value from another": (BACKWARDS, ((90,), (90,)), "loops"),
    "vectors": (LANES, ((64,), (64,)), "lanes"),
    "a loop with a condition": (UNTIL, ((8,), (8,)), "loops"),
}


def arrays(shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.uniform(-3, 3, shape).astype("float32") for shape in shapes]


def chosen(kernel: Kernel, values: Sequence[Any]) -> Pipeline:
    _, variant = kernel.bind(values)
    return kernel.lowered(variant).pipeline


@pytest.mark.parametrize("name", KERNELS)
def test_all_pipelines_give_the_same_bits(name: str) -> None:
    function, shapes, expected = KERNELS[name]
    engine = Engine(options=ONE_THREAD)
    kernel = engine.kernel(function, "f")
    assert chosen(kernel, arrays(shapes)) == expected
    results: dict[str, bytes] = {}
    for pipeline in PIPELINES:
        values = arrays(shapes)
        bound, variant = kernel.bind(values)
        source = replace(source_of(kernel.lowered(variant)), pipeline=pipeline)
        program = engine.target.link(source.compile(engine.target), source.entry)
        kernel.run(bound, replace(variant, program=program), None)
        results[pipeline] = values[-1].tobytes()
    assert len(set(results.values())) == 1
    naive, values = Engine(options=KernelOptions(is_transformed=False)).kernel(function, "f"), arrays(shapes)
    assert chosen(naive, values) == ("lanes" if expected == "lanes" else "loops")
    naive(*values)
    assert values[-1].tobytes() in results.values()


def test_a_pipeline_does_what_it_is_for() -> None:
    engine = Engine(options=ONE_THREAD)
    function, shapes, _ = KERNELS["elements side by side"]
    kernel = engine.kernel(function, "f")
    _, variant = kernel.bind(arrays(shapes))
    text, target = kernel.lowered(variant).text, Target()
    assert "call float @exp.f32" in text
    assert "@exp.f32" not in target.optimized_ir(text, "written")
    lanes = f"<{engine.options.vector_bits // 32} x float>"
    assert lanes not in text
    assert lanes in target.optimized_ir(text, "even")
    assert lanes not in target.optimized_ir(text, "written")
