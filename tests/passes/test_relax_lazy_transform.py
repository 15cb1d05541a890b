"""LazyTransformParams: what is loaded, handed over and freed, as in apache-tvm."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import structural_equal
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks

ONE = """
    @R.function
    def main_transform_params(params: R.Tuple(R.Tensor((3, 4), "float32"), R.Tensor((3, 4), "float32"))):
        R.func_attr({"relax.force_pure": True})
        lv = params[1]
        lv1 = params[0]
        lv2 = R.permute_dims(lv)
        lv3 = R.exp(lv1)
        lv4 = R.add(lv3, lv1)
        gv = (lv2, lv4)
        return gv
"""
SEVERAL = """
    @R.function
    def transform_params(
        x: R.Tensor((3, 4), "float32"), a: R.Tensor((3, 4), "float32"), b: R.Tensor(("n", 4), "float32"),
        s: R.Shape(["n"]),
    ):
        R.func_attr({"relax.force_pure": True, "num_input": 1})
        n = T.int64()
        lv2 = R.permute_dims(b)
        lv3 = R.exp(a)
        lv4 = R.add(lv3, x)
        gv = (lv2, lv4, lv2)
        return gv
"""
CONSTANT = """
    @R.function
    def transform_params(a: R.Tensor((3, 4), "float32")):
        R.func_attr({"relax.force_pure": True})
        lv3 = R.exp(a)
        gv = (lv3, R.const(1.0, "float32"), R.const(2, "int32"))
        return gv
"""
FIELD = """
    @R.function
    def transform_params(params: R.Tuple(R.Tensor((3, 4), "float32"), R.Tensor((3, 4), "float32"))):
        R.func_attr({"relax.force_pure": True})
        lv = params[1]
        lv1 = params[0]
        lv3 = R.exp(lv1)
        gv = (lv, lv3)
        return gv
    @R.function
    def other(x: R.Tensor((3, 4), "float32")):
        return x
"""
RETURNED = """
    @R.function
    def transform_params(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")):
        R.func_attr({"relax.force_pure": True})
        lv = R.add(a, a)
        gv = (a, b, lv)
        return gv
"""
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "fset_item=''": {"fset_item": None},
    "fget_item='load', extra_get_item_params=['loader'], extra_set_item_params=['saver', 't']": {
        "fget_item": "load",
        "extra_get_item_params": ["loader"],
        "extra_set_item_params": ["saver", "t"],
    },
}


@pytest.mark.parametrize("words", OPTIONS)
@pytest.mark.parametrize("text", [ONE, SEVERAL, CONSTANT, FIELD], ids=["a tuple", "several", "constants", "a field"])
def test_weights_are_loaded_as_in_tvm(text: str, words: str) -> None:
    options = dict(OPTIONS[words])
    for name in ("extra_get_item_params", "extra_set_item_params"):
        options[name] = [relax.Var(item, relax.AnyType()) for item in options.get(name, ())]
    agrees(text, relax.transform.LazyTransformParams(**options), f"LazyTransformParams({words})")


def test_a_weight_that_is_returned_is_handed_over() -> None:
    names = "fget_item='test.load_weight', fset_item='test.store_weight'"
    after = passed(parse(RETURNED), f"LazyTransformParams({names})").after
    weights: list[Any] = [np.array(item, dtype=np.float32) for item in ([1, 2], [3, 4])]
    taken: dict[int, Any] = {}

    def load(index: int) -> Any:
        return weights[index]

    def store(index: int, value: Any) -> None:
        taken[index] = value

    rc.register_packed("test.load_weight", load)
    rc.register_packed("test.store_weight", store)
    rc.VirtualMachine(rc.build(after))["transform_params"]()
    assert [taken[k].tolist() for k in range(3)] == [[1, 2], [3, 4], [2, 4]]


def test_a_dataflow_block_becomes_an_ordinary_one() -> None:
    module = parse("""
    @R.function
    def transform_params(a: R.Tensor((2,), "float32")):
        with R.dataflow():
            lv = R.add(a, a)
            gv = R.exp(lv)
            R.output(gv)
        return gv
    @R.function
    def main(a: R.Tensor((2,), "float32")):
        with R.dataflow():
            gv = R.add(a, a)
            R.output(gv)
        return gv
""")
    after = passed(module, "LazyTransformParams").after
    plain = passed(module, "ToNonDataflow, LazyTransformParams").after
    assert structural_equal(after["transform_params"], plain["transform_params"])
    assert after["main"] is module["main"]


def test_remarks_name_what_loads_its_weights() -> None:
    stage = passed(parse(FIELD), "LazyTransformParams")
    assert remarks(stage, "applied") == ["@transform_params loads its weights one by one: 1"]
    assert remarks(stage, "missed") == ["@other stays: its name does not end in transform_params"]
