"""MergeComposite as Relay's own tests have it: which function literals come out, and that the value stays."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, TensorType
from relax_core.ir.prim import IntImm
from relax_core.pattern.matching.matcher import Match
from tests.passes.relay.byoc import after, program, tables

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("upstream_composites.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_composites(case: dict[str, Any]) -> None:
    mod = program(case["program"], case["params"])
    made = after(mod, "MergeComposite", tables(*map(tuple, case["patterns"])))
    if "after" not in case:
        assert made is mod
        return
    assert first_difference(made, program(case["after"], case["params"])) is None, rc.script(made)
    assert [item.render() for item in rc.check(made) if item.severity == "error"] == []


CONV = rc.is_op("nn.conv2d")(rc.wildcard(), rc.wildcard())
CHAIN = rc.is_op("nn.relu")(rc.is_op("nn.bias_add")(CONV, rc.wildcard()))
PARAMS = "%d: Tensor[(1, 8, 4, 4), float32], %k: Tensor[(8, 8, 1, 1), float32], %e: Tensor[(8), float32]"


@pytest.mark.parametrize(("layout", "is_taken"), [("NCHW", True), ("NHWC", False)])
def test_a_check_reads_an_attribute(layout: str, *, is_taken: bool) -> None:
    def has_layout(match: Match) -> bool:
        conv = match[CONV]
        return isinstance(conv, Call) and dict(conv.attrs).get("data_layout", "NCHW") == layout

    mod = program("nn.relu(nn.bias_add(nn.conv2d(%d, %k, channels=8, kernel_size=[1, 1]), %e))", PARAMS)
    made = after(mod, "MergeComposite", rc.Tables(patterns=(("t.conv", CHAIN, has_layout),)))
    assert (made is not mod) == is_taken


@pytest.mark.parametrize(("size", "is_taken"), [(4, True), (5, False)])
def test_a_check_reads_a_type(size: int, *, is_taken: bool) -> None:
    def has_size(match: Match) -> bool:
        type_ = match.type_of(CONV)
        assert isinstance(type_, TensorType)
        assert type_.dims is not None
        return isinstance(type_.dims[2], IntImm) and type_.dims[2].value == size

    mod = program("nn.relu(nn.bias_add(nn.conv2d(%d, %k, channels=8, kernel_size=[1, 1]), %e))", PARAMS)
    made = after(mod, "MergeComposite", rc.Tables(patterns=(("t.conv", CHAIN, has_size),)))
    assert (made is not mod) == is_taken
