"""Each operator of Relay that Relax can express: the interpreter and the machine compute what NumPy does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.infer import infer
from relax_core.diagnostics import RunError
from relax_core.ir.expr import TensorType
from relax_core.ops.relay import RELAY_OPS
from tests.ops.relay.cases import CASES as SHAPE_CASES
from tests.passes.relay.operator_cases import CASES, Array, Case
from tests.passes.relay.rare_cases import CASES as RARE_CASES
from tests.passes.relay.rare_image_cases import IMAGE_CASES
from tests.passes.relay.running import agree, both, parsed


def program(case: Case) -> str:
    """Return a module whose `main` is the call."""
    names = "abcdefgh"
    params = ", ".join(
        f"%{name}: Tensor[({', '.join(map(str, np.shape(arg)))}{',' * (np.ndim(arg) == 1)}), {np.asarray(arg).dtype}]"
        for name, arg in zip(names, case.args, strict=False)
    )
    return f"def @main({params}) {{ {case.text} }}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_call_gives_what_numpy_computes(case: Case) -> None:
    result = both(program(case), *case.args)
    agree(result, case.compute(*case.args))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_result_has_the_type_that_relay_says(case: Case) -> None:
    module = parsed(program(case))
    result = rc.evaluate(module, "main", *case.args)
    type_ = infer(module).types[module["main"].body]
    if isinstance(type_, TensorType):
        assert type_.dtype == str(result.dtype)
        assert type_.ndim == result.ndim


def test_every_operator_is_translated_or_said_not_to_be() -> None:
    assert sum(spec.rule is not None for spec in RELAY_OPS.values()) >= 280
    covered = {case.op for case in (*CASES, *SHAPE_CASES, *RARE_CASES, *IMAGE_CASES)}
    assert len({name for name in covered if RELAY_OPS[name].rule is not None}) >= 190


def test_a_call_that_relax_cannot_express_is_refused_by_name() -> None:
    call = "nn.contrib_conv2d_winograd_nnpack_weight_transform(%a, convolution_algorithm=0)"
    text = f"def @main(%a: Tensor[(8, 4, 3, 3), float32]) {{ {call} }}"
    stage = rc.run_pipeline(parsed(text), "RelayToRelax")[-1]
    assert [(item.code, item.span is not None) for item in stage.diagnostics] == [("PS011", True)]
    assert "`nn.contrib_conv2d_winograd_nnpack_weight_transform`" in stage.diagnostics[0].message
    with pytest.raises(RunError, match=r"nn\.contrib_conv2d_winograd_nnpack_weight_transform"):
        rc.evaluate(parsed(text), "main", np.zeros((8, 4, 3, 3), "float32"))


V = "%x: Tensor[(3), float32]"
VALUES: dict[str, tuple[str, Callable[[Array], Any]]] = {
    "bound by let": ("let %f = negative; %f(%x)", lambda x: -x),
    "under two names": ("let %f = exp; let %g = %f; add(%g(%x), %f(%x))", lambda x: 2 * np.exp(x)),
    "with a default": ("let %f = concatenate; %f((%x, %x))", lambda x: np.concatenate((x, x))),
    "at two types": ("let %f = negative; (%f(%x), %f(1))", lambda x: (-x, -1)),
    "in a branch": ("let %f = if (less(sum(%x), 0f)) { exp } else { negative }; %f(%x)", lambda x: -x),
    "in a tuple": ("let %t = (negative, 1); %t.0(%x)", lambda x: -x),
    "as an argument and called": (
        "let %f = negative; let %g = fn (%h: fn (Tensor[(3), float32]) -> Tensor[(3), float32]) { %h(%x) }; "
        "(%f(%x), %g(negative))", lambda x: (-x, -x)),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_an_operator_is_a_value(name: str) -> None:
    body, compute = VALUES[name]
    x = np.array([1, 2, 3], "float32")
    agree(both(f"def @main({V}) {{ {body} }}", x), compute(x))


def test_an_operator_of_which_no_type_is_known_takes_all_its_arguments() -> None:
    module = parsed(f"def @main({V}) {{\n  let %t = (nn.bias_add, 1);\n  %t.0(%x)\n}}")
    stage = rc.run_pipeline(module, "RelayToRelax")[-1]
    assert [(item.code, item.span.line if item.span else 0) for item in stage.diagnostics] == [("RY002", 4)]


def test_what_nothing_binds_is_told_where_it_is_used() -> None:
    module = parsed(f"def @main({V}) {{\n  let %a = exp(%x);\n  let %b = tanh(%a);\n  %b\n}}")
    passes = "AnnotateTarget(targets=['a'], lets='reported'), MergeCompilerRegions, PartitionGraph, RelayToRelax"
    stage = rc.run_pipeline(module, passes, tables=rc.Tables(supported={"a": ("exp", "tanh")}))[-1]
    places = [(item.code, item.span.line if item.span else 0) for item in stage.diagnostics]
    assert places == [("RY030", 3), ("RY030", 4)]
