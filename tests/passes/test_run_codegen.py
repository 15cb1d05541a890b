"""RunCodegen and the reference backend: the calls of apache-tvm, and the values of the program that was partitioned."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.hand_over import hand_overs
from relax_core.check.infer import infer
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, ExternFunc
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes.external import is_external
from tests.apache_tvm import from_source, relax
from tests.passes.byoc_programs import program, random_program, tables, their_patterns
from tests.passes.wheel import in_tvm, passed, remarks, same_values

REGIONS: dict[str, str] = tomllib.loads(Path(__file__).with_name("region_programs.toml").read_text(encoding="utf-8"))
PARTITION = "FuseOpsByPattern, MergeCompositeFunctions, RunCodegen"


def partitioned(text: str, passes: str = PARTITION) -> IRModule:
    return passed(rc.parse(in_tvm(text).script()), passes, tables()).after


def theirs(composites: Any) -> IRModule:
    """Run MergeCompositeFunctions and RunCodegen of apache-tvm."""
    return called_by_tvm(relax.transform.MergeCompositeFunctions()(composites))


def called_by_tvm(regions: Any, entries: tuple[str, ...] = ()) -> IRModule:
    """Run RunCodegen of apache-tvm, whose backends here make no code."""
    from tvm_ffi import register_global_func

    def backend(functions: Any, options: Any, names: Any) -> list[Any]:
        del functions, options, names
        return []

    for target in ("dnnl", "acl"):
        register_global_func(f"relax.ext.{target}", backend, override=True)
    done = relax.transform.RunCodegen(entry_functions=[*entries])(regions)
    for key in ("const_name_to_constant", "external_mods"):
        done = done.without_attr(key) if key in (done.attrs or {}) else done
    return rc.parse(done.script(show_meta=True))


@pytest.mark.tvm
@pytest.mark.parametrize("seed", range(12))
def test_calls_are_those_of_tvm(seed: int) -> None:
    composites = relax.transform.FuseOpsByPattern(their_patterns(), bind_constants=seed % 3 != 0)(
        in_tvm(random_program(seed))
    )
    after = passed(rc.parse(composites.script(show_meta=True)), "MergeCompositeFunctions, RunCodegen").after
    assert first_difference(own_part(after), theirs(composites)) is None


def own_part(module: IRModule) -> IRModule:
    """Return a module without what the backend got."""
    own = tuple(item for item in module.definitions if not is_external(item.function))
    return replace(module, definitions=own)


@pytest.mark.tvm
@pytest.mark.parametrize(("name", "entries"), [*((name, ()) for name in REGIONS), ("entry that is private", ("step",))])
def test_regions_become_the_calls_of_tvm(name: str, entries: tuple[str, ...]) -> None:
    text = f"@I.ir_module\nclass Module:\n{REGIONS[name]}"
    after = passed(rc.parse(text), f"RunCodegen(entry_functions={entries})").after
    assert first_difference(own_part(after), called_by_tvm(from_source(text), entries)) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_partitioned_program_gives_the_same_values(seed: int) -> None:
    module = rc.parse(in_tvm(random_program(seed)).script())
    after = partitioned(random_program(seed))
    same_values(module, after, rtol=1e-5)
    assert rc.structural_equal(rc.parse(rc.script(after)), after)
    assert not rc.run_pipeline(after, "RunCodegen")[-1].is_changed
    again = rc.run_pipeline(rc.parse(rc.script(after)), PARTITION, tables=tables())
    assert not any(stage.is_changed for stage in again)


CHAIN = ["a = R.matmul(x, w)", "b = R.nn.relu(a)", "c = R.multiply(b, R.const(0.5, 'float32'))", "d = R.exp(c)"]


def test_what_is_handed_over_is_said() -> None:
    text = program(CHAIN, ["d", "b"])
    stage = passed(rc.parse(in_tvm(text).script()), PARTITION, tables())
    said = 'R.Tensor((4, 4), dtype="float32")'
    assert remarks(stage, "applied") == [
        f"@fused_relax_matmul_relax_nn_relu1_dnnl goes to dnnl: 2 operators; inputs x: {said}, w: {said}; "
        f"constants none; outputs {said}",
        f"@fused_relax_multiply1_acl goes to acl: 1 operator; inputs b: {said}; constants "
        f'fused_relax_multiply1_acl_acl_const_0: R.Tensor((), dtype="float32"); outputs {said}',
    ]
    first, second = hand_overs(stage.after, infer(stage.after).types)
    assert (first.composites, second.composites) == (("dnnl.mm",), ("acl.scale",))
    assert [item.name for item in first.inputs] == ["x", "w"]


def test_no_later_pass_sees_an_external_function() -> None:
    after = partitioned(program(CHAIN, ["d"]))
    stages = rc.run_pipeline(after, None)
    external = [item for item in after.definitions if is_external(item.function)]
    assert [item for item in stages[-1].after.definitions if is_external(item.function)] == external
    assert "R.exp" not in rc.script(replace(stages[-1].after, definitions=stages[-1].after.definitions[:1]))


def test_the_backend_runs_operators_by_numpy() -> None:
    executable = rc.build(partitioned(program(CHAIN, ["d"])))
    assert "relax.matmul" in executable.index_of
    assert "tir_exp" in executable.kernels
    assert "matmul" not in executable.kernels
    x = np.ones((4, 4), np.float32)
    result = rc.VirtualMachine(executable)["main"](x, x, x)
    np.testing.assert_allclose(result, np.full((4, 4), np.exp(np.float32(2))), rtol=1e-6)


TWO = """
    @R.function
    def other(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
"""


def test_only_what_entry_functions_reach_is_handed_over() -> None:
    text = program(CHAIN, ["d"]) + TWO
    private = text.replace("    @R.function\n    def main", "    @R.function(private=True)\n    def main")
    after = partitioned(private, PARTITION)
    assert [item.var.name for item in after.definitions if is_external(item.function)] == ["fused_relax_nn_relu1_dnnl"]
    stage = rc.run_pipeline(after, "RunCodegen(entry_functions='none')")[-1]
    assert [item.code for item in stage.diagnostics] == ["PS018"]
    rest = partitioned(private, PARTITION.replace("RunCodegen", "RunCodegen(entry_functions='main')"))
    assert len([item for item in rest.definitions if is_external(item.function)]) == 3


UNSIZED = """
    @R.function
    def region(x: R.Tensor((4,), "float32")) -> R.Tensor(ndim=1, dtype="float32"):
        R.func_attr({"Codegen": "t"})
        gv: R.Tensor(ndim=1, dtype="float32") = R.unique(x, sorted=True)
        return gv

    @R.function
    def sized(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Codegen": "t"})
        gv: R.Tensor((4,), "float32") = R.exp(x)
        return gv

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        f = cls.sized
        a = cls.region(x)
        b = f(x)
        return (a, b)
"""


def test_what_cannot_be_called_with_destinations_stays_a_function() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{UNSIZED}")
    stage = passed(module, "RunCodegen(target_options={'t': {'level': 3}, 'u': {}})")
    assert not stage.is_changed
    sizes, value = remarks(stage, "missed")
    assert "the sizes of its results are not known" in sizes
    assert value == "@sized is not handed to t: it is used as a value"
    assert remarks(stage, "note") == [
        "the options of t are not used: the reference backend takes no options",
        "the options of u are not used: no function belongs to this target",
    ]


SYMBOLIC = ["a = R.nn.relu(x)", "c = R.concat((a, a), axis=0)", "f = R.nn.relu(c)"]


def test_sizes_that_only_the_caller_knows_are_handed_over() -> None:
    text = program(SYMBOLIC, ["f"], rows="n")
    table = rc.Tables(patterns=(("t.relu", rc.pattern("is_op('relax.nn.relu')(wildcard())")),))
    module = rc.parse(in_tvm(text).script())
    after = passed(module, PARTITION, table).after
    called = [item for item in preorder(after["main"]) if isinstance(item, Call) and ExternFunc in map(type, item.args)]
    assert len(called) == 2
    same_values(module, after)


def test_linking_gives_external_functions_destinations() -> None:
    module = rc.parse(in_tvm(program(["a = R.nn.relu(x)", "b = R.exp(a)"], ["b"])).script())
    stage = rc.run_pipeline(module, f"{PARTITION}, LinkReferenceBackend", tables=tables())[-1]
    text = rc.script(stage.after)
    assert 'out: R.Tensor((4, 4), dtype="float32"))' in text
    assert 'R.call_packed("custom_copy", ' in text
    assert not any(is_external(item.function) for item in stage.after.definitions)
