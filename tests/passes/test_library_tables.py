"""The sample tables of libraries partition as the patterns that apache-tvm has for them."""

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

import pytest

import relax_core as rc
from benchmarks.relax_stages import text_of
from relax_core.engine.samples import list_tables
from tests.apache_tvm import relax
from tests.passes.wheel import in_tvm

TABLES = dict(list_tables())
WHERE = {"cublas": "cuda.cublas", "cudnn": "cuda.cudnn", "cutlass": "cuda.cutlass", "coreml": "metal.coreml"}
PRODUCT = "x: H((32, 64)), w: H((64, 64)), b: H((64,)), r: H((32, 64))"
CONVOLUTION = "x: H((16, 32, 32, 16)), w: H((32, 3, 3, 16)), b: H((1, 1, 1, 32)), r: H((16, 32, 32, 32))"
NHWC = "data_layout='NHWC', kernel_layout='OHWI', out_layout='NHWC'"
ROOTS = {
    "matmul": (PRODUCT, "y = R.matmul(x, w)"),
    "transposed": (PRODUCT, "t = R.permute_dims(w)\ny = R.matmul(x, t)"),
    "conv2d": (CONVOLUTION, f"y = R.nn.conv2d(x, w, padding=(1, 1), {NHWC})"),
}
TAILS = tuple(
    (
        *(f"y = R.nn.{item}(y)" for item in active),
        *(["y = R.add(y, r)"] * bool(rest)),
        *(["y = R.nn.relu(y)"] * (rest > 1)),
    )
    for active, rest in product(((), ("relu",), ("gelu",), ("silu",)), range(3))
)
ALONE = {
    "attention": ("x: H((4, 8, 2, 8))", "y = R.nn.attention(x, x, x)"),
    "layer norm": ("x: H((4, 64)), g: H((64,))", "y = R.nn.layer_norm(x, g, g, axes=[-1])"),
    "single operators": ("x: H((4, 64))", "y = R.clip(x, 0, 6)\ny = R.nn.softmax(y)\ny = R.expand_dims(y, axis=0)"),
}


def programs() -> Iterator[tuple[str, str]]:
    """Give the programs by name; those with a residual and no bias are left out, for a library may refuse its shape."""
    for name, (params, root) in ROOTS.items():
        for tail in TAILS:
            yield f"{name} {len(tail)}", program(params, "\n".join((root, "y = R.add(y, b)", *tail)))
        yield f"{name} alone", program(params, root)
        yield f"{name} with relu", program(params, f"{root}\ny = R.nn.relu(y)")
    for name, (params, body) in ALONE.items():
        yield name, program(params, body)


def program(params: str, body: str) -> str:
    """Write a function with one dataflow block; the dtype of what `H` has the shape of is float16."""
    typed = re.sub(r"H\((\([^)]*\))\)", r'R.Tensor(\1, "float16")', params)
    lines = "".join(f"            {line}\n" for line in body.split("\n"))
    return (
        f"    @R.function\n    def main({typed}):\n        with R.dataflow():\n{lines}"
        "            R.output(y)\n        return y\n"
    )


def composites(text: str) -> list[str]:
    """Return the composites of a module, sorted."""
    return sorted(re.findall(r'"Composite": "([^"]+)"', text))


@pytest.mark.tvm
@pytest.mark.parametrize("library", WHERE)
def test_a_table_finds_what_the_library_of_tvm_takes(library: str) -> None:
    import_module(f"tvm.relax.backend.{WHERE[library]}")
    registry: Any = import_module("tvm.relax.backend.pattern_registry")
    patterns = registry.get_patterns_with_prefix(library)
    tables = rc.read_tables(TABLES[f"relax_{library}"])
    assert {entry[0] for entry in tables.patterns} <= {item.name for item in patterns}
    found: set[str] = set()
    for name, text in programs():
        module = in_tvm(text)
        theirs = relax.transform.FuseOpsByPattern(patterns, bind_constants=False)(module)
        ours = rc.run_pipeline(rc.parse(text_of(module)), "FuseOpsByPattern(bind_constants=False)", tables=tables)[-1]
        assert composites(rc.script(ours.after)) == composites(text_of(theirs)), name
        found.update(composites(text_of(theirs)))
    assert len(found) > 2
