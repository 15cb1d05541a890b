"""Which prim funcs are pure: by the rules, as apache-tvm says, and what follows for the functions that call them."""

import textwrap
import tomllib
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.check.prim.prim_purity import EFFECT_FREE, is_pure_prim_func
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc

BODIES = tomllib.loads(Path(__file__).with_name("prim_purity.toml").read_text(encoding="utf-8"))
CASES = [(name, word == "pure") for word, bodies in BODIES.items() for name in bodies]
CALLER = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), n: R.Prim("int64"), p: R.Any) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            _ = cls.f(n, x, p)
            R.output()
        return x
"""


def text_of(name: str, caller: str = "") -> str:
    body = next(bodies[name] for bodies in BODIES.values() if name in bodies).strip()
    result = " -> T.int64" if "return" in body else ""
    header = f'    def f(n: T.int64, A: T.Buffer((4,), "float32"), p: T.handle){result}:\n'
    start = "@I.ir_module(s_tir=True)\nclass Module:\n    @T.prim_func(s_tir=True)\n"
    return start + header + textwrap.indent(body, " " * 8) + "\n" + caller


def prim_func_of(module: IRModule) -> PrimFunc:
    found = module.find("f")
    assert found is not None
    assert isinstance(found.function, PrimFunc)
    return found.function


@pytest.mark.parametrize(("name", "is_pure"), CASES)
def test_a_prim_func_is_pure_if_it_changes_only_its_own_buffers(name: str, *, is_pure: bool) -> None:
    assert is_pure_prim_func(prim_func_of(rc.parse(text_of(name)))) == is_pure


@pytest.mark.tvm
@pytest.mark.parametrize(("name", "is_pure"), CASES)
def test_apache_tvm_says_the_same(name: str, *, is_pure: bool) -> None:
    from tests.apache_tvm import from_source

    assert from_source(text_of(name), check_well_formed=False)["f"].ty.purity == is_pure


@pytest.mark.tvm
def test_apache_tvm_knows_the_same_intrinsics_as_free_of_effects() -> None:
    from tests.apache_tvm import tvm

    effect = {
        str(name).partition(".")[2]: tvm.ir.Op.get(name).get_attr("TCallEffectKind")
        for name in tvm.ir.Op.list_op_names()
        if not str(name).startswith("relax.")
    }
    updates_state = 3
    wrong = [name for name in EFFECT_FREE if effect.get(name) == updates_state]
    assert wrong == []
    assert len(EFFECT_FREE & effect.keys()) > len(EFFECT_FREE) // 2


@pytest.mark.parametrize(("name", "is_pure"), [CASES[0], ("store", False), ("extern", False), ("load", True)])
def test_a_dataflow_block_calls_only_pure_prim_funcs(name: str, *, is_pure: bool) -> None:
    codes = [item.code for item in rc.check(rc.parse(text_of(name, CALLER))) if item.severity == "error"]
    assert codes == ([] if is_pure else ["WF004"])


def test_memory_of_allocate_is_its_own() -> None:
    lines = ('B = T.allocate([4], "float32", "global")', 'C = T.decl_buffer((4,), "float32", data=B)', "C[0] = A[0]")
    store = "A[0] = T.float32(1)"
    text = text_of("store").replace(store, ("\n" + " " * 8).join(lines))
    assert is_pure_prim_func(prim_func_of(rc.parse(text)))
