"""FuseOpsByPattern: the composites of apache-tvm, and what that gets wrong or says nothing about."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.diagnostics import has_errors
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function, GlobalVar, is_op_call
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes.core import Stage
from tests.apache_tvm import relax
from tests.passes.byoc_programs import composites, program, random_program, tables, their_patterns
from tests.passes.wheel import in_tvm, passed, remarks, same_values

OPTIONS = ("", "bind_constants=False", "annotate_codegen=True")
SHARED = "a part of it belongs to another composite"
MM_RELU = "is_op('relax.nn.relu')(is_op('relax.matmul')(wildcard(), wildcard()))"


def fused(text: str, options: str = "", table: rc.Tables | None = None) -> Stage:
    return passed(rc.parse(in_tvm(text).script()), f"FuseOpsByPattern({options})", table or tables())


def theirs(text: str, **options: bool) -> IRModule:
    module = relax.transform.FuseOpsByPattern(their_patterns(), **options)(in_tvm(text))
    return rc.parse(module.script(show_meta=True))


def table(**patterns: str) -> rc.Tables:
    return rc.Tables(patterns=tuple((f"t.{name}", rc.pattern(text)) for name, text in patterns.items()))


@pytest.mark.tvm
@pytest.mark.parametrize("seed", range(18))
def test_composites_are_those_of_tvm(seed: int) -> None:
    text, option = random_program(seed), OPTIONS[seed % 3]
    ours = fused(text, option)
    name, _, value = option.partition("=")
    wanted = theirs(text, **({name: value == "True"} if name else {}))
    if any(SHARED in item for item in remarks(ours, "missed")):
        # TVM calls what is left of a match by the name of the whole.
        assert set(composites(wanted)) - set(composites(ours.after))
    else:
        assert first_difference(ours.after, wanted) is None


@pytest.mark.parametrize("seed", range(3))
def test_values_stay_and_the_module_is_read_back(seed: int) -> None:
    stage = fused(random_program(seed), OPTIONS[seed % 3])
    same_values(stage.before, stage.after, rtol=1e-5)
    assert rc.structural_equal(rc.parse(rc.script(stage.after)), stage.after)
    again = rc.run_pipeline(stage.after, f"FuseOpsByPattern({OPTIONS[seed % 3]})", tables=tables())
    assert not again[-1].is_changed


@pytest.mark.tvm
def test_what_is_left_of_a_match_is_no_composite() -> None:
    text = program(["a = R.matmul(x, w)", "b = R.nn.relu(a)", "c = R.nn.relu(a)", "d = R.add(b, c)"], ["d"])
    pattern: Any = their_patterns("dnnl.mm_relu")
    wrong = rc.parse(relax.transform.FuseOpsByPattern(pattern)(in_tvm(text)).script())
    alone = wrong["fused_relax_nn_relu"]
    assert isinstance(alone, Function)
    assert ("Composite", "dnnl.mm_relu") in alone.attrs
    stage = fused(text, table=table(mm_relu=MM_RELU))
    assert composites(stage.after) == {"fused_relax_matmul_relax_nn_relu": "t.mm_relu"}
    assert remarks(stage, "missed") == [f"t.mm_relu: {SHARED}"]
    assert remarks(stage, "note") == [
        "t.mm_relu: a inside is used outside as well, and is a result of the composite, too"
    ]
    same_values(stage.before, stage.after)


@pytest.mark.tvm
@pytest.mark.parametrize("body", [
    ["a = R.matmul(x, w)", "b = R.exp(a)", "c = R.add(a, b)"],
    ["a = R.matmul(x, w)", "b = R.exp(a)", "d = R.tanh(b)", "c = R.add(a, d)"],
])  # fmt: skip
def test_a_value_that_leaves_and_comes_back_prevents_a_composite(body: list[str]) -> None:
    text = program(body, ["c"])
    pattern = "is_op('relax.add')(is_op('relax.matmul')(wildcard(), wildcard()), wildcard())"
    theirs = relax.transform.FuseOpsByPattern(their_patterns("dnnl.mm_add"))
    if len(body) == 3:
        with pytest.raises(Exception, match="cyclic dependency"):
            theirs(in_tvm(text))
    else:
        # TVM sees a cycle of two groups only, and otherwise uses a variable that it does not bind.
        assert has_errors(rc.check(rc.parse(theirs(in_tvm(text)).script())))
    stage = fused(text, table=table(mm_add=pattern))
    assert not stage.is_changed
    assert remarks(stage, "missed")[0] == (
        "t.mm_add: a value leaves it and comes back, so that each would wait for the other"
    )
    way = [item.var.name for item in stage.remarks[0].because]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  # bindings
    assert way == [line.split()[0] for line in body]


@pytest.mark.tvm
def test_a_tuple_that_is_bound_is_a_part_of_the_match() -> None:
    text = program(["a = R.exp(x)", "b = R.nn.relu(a)", "t = (a, b)", "c = R.concat(t, axis=0)"], ["c"])
    with pytest.raises(Exception, match="cyclic dependency"):
        relax.transform.FuseOpsByPattern(their_patterns("dnnl.concat"))(in_tvm(text))
    concat = "is_op('relax.concat')(is_tuple([is_op('relax.exp')(wildcard()), is_op('relax.nn.relu')(wildcard())]))"
    stage = fused(text, table=table(concat=concat))
    assert composites(stage.after) == {"fused_relax_exp_relax_nn_relu_relax_concat": "t.concat"}
    same_values(stage.before, stage.after)


def test_a_pattern_that_does_not_match_says_what_came_closest() -> None:
    text = program(["a = R.exp(x)", "b = R.nn.relu(a)"], ["b"])
    stage = fused(text, table=table(mm_relu=MM_RELU))
    (said,) = remarks(stage, "missed")
    assert said == "t.mm_relu: closest at b, where is_op('matmul') met relax.exp, which is not matmul"


def test_a_match_outside_of_dataflow_is_pointed_at() -> None:
    text = program(["a = R.matmul(x, w)", "b = R.nn.relu(a)"], ["b"])
    module = rc.run_pipeline(rc.parse(in_tvm(text).script()), "ToNonDataflow")[-1].after
    stage = rc.run_pipeline(module, "FuseOpsByPattern", tables=table(mm_relu=MM_RELU))[-1]
    assert any("ConvertToDataflow makes one" in item for item in remarks(stage, "missed"))
    again = rc.run_pipeline(module, "ConvertToDataflow, FuseOpsByPattern", tables=table(mm_relu=MM_RELU))[-1]
    assert composites(again.after) == {"fused_relax_matmul_relax_nn_relu": "t.mm_relu"}


def test_a_predicate_refuses_a_match() -> None:
    text = program(["a = R.matmul(x, w)", "b = R.nn.relu(a)"], ["b"])
    never = rc.Tables(patterns=(("t.mm_relu", rc.pattern(MM_RELU), lambda _: False),))
    stage = fused(text, table=never)
    assert not stage.is_changed
    assert remarks(stage, "missed")[0] == "t.mm_relu: the table's predicate refuses it"


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("patterns='dnnl'", {"dnnl.mm", "dnnl.add"}),
        ("patterns=['dnnl.add']", {"dnnl.add"}),
        ("""patterns='{"patterns": [["u.e", "is_op(\\'relax.exp\\')(wildcard())"]]}'""", {"u.e"}),
    ],
)
def test_patterns_are_chosen_by_an_option(option: str, names: set[str]) -> None:
    text = program(["a = R.matmul(x, w)", "b = R.exp(a)", "c = R.add(b, b)"], ["c"])
    assert set(composites(fused(text, option).after).values()) == names


@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("patterns='nvidia'", "PT005"),
        ("patterns='{'", "PT005"),
        ("entry_functions='other'", "PS018"),
        ("patterns=3", "PS002"),
    ],
)
def test_an_option_that_names_nothing_is_refused(option: str, code: str) -> None:
    module = rc.parse(in_tvm(program(["a = R.exp(x)"], ["a"])).script())
    try:
        found = [
            item.code
            for item in rc.run_pipeline(module, f"FuseOpsByPattern({option})", tables=tables())[-1].diagnostics
        ]
    except rc.CompileError as error:
        found = [item.code for item in error.diagnostics]
    assert found == [code]


TWO = """
    @R.function
    def other(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            R.output(a)
        return a
"""


@pytest.mark.tvm
def test_only_entry_functions_are_looked_at() -> None:
    text = program(["a = R.exp(x)"], ["a"]) + TWO
    exp = table(exp="is_op('relax.exp')(wildcard())")
    stage = fused(text, "entry_functions='other'", exp)
    pattern = their_patterns("t.exp")
    wanted = relax.transform.FuseOpsByPattern(pattern, entry_functions=["other"])(in_tvm(text))
    assert first_difference(stage.after, rc.parse(wanted.script())) is None
    assert not any(isinstance(item, GlobalVar) for item in preorder(stage.after["main"]))


CAST = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        m = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.match_cast(y, R.Tensor((m,), "float32"))
            c = R.broadcast_to(R.sum(a), R.shape([m]))
            d = R.add(b, c)
            R.output(d)
        return d
"""


def test_a_dimension_is_known_before_its_composite_is_called() -> None:
    broadcast = "is_op('relax.broadcast_to')(is_op('relax.sum')(is_op('relax.exp')(wildcard())), wildcard())"
    stage = passed(rc.parse(f"@I.ir_module\nclass Module:\n{CAST}"), "Normalize, FuseOpsByPattern", table(b=broadcast))
    assert len(composites(stage.after)) == 1


PRIM = """
    @T.prim_func(private=True)
    def twice(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            a = R.split(x, 2, axis=1)
            b = a[1]
            c = R.nn.relu(b)
            e = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((4, 4), "float32"))
            R.output(c, e)
        return (c, e)
"""


def test_patterns_take_fields_of_tuples_and_prim_funcs() -> None:
    chosen = table(
        second="is_op('relax.nn.relu')(is_op('relax.split')(wildcard())[1])",
        twice="is_call_tir('twice', (wildcard(),))",
    )
    stage = passed(rc.parse(f"@I.ir_module\nclass Module:\n{PRIM}"), "FuseOpsByPattern", chosen)
    assert composites(stage.after) == {"fused_relax_split_relax_nn_relu": "t.second", "fused_twice": "t.twice"}
    same_values(stage.before, stage.after)


def test_one_composite_of_several_matches_stems_from_all_of_them() -> None:
    text = program(["a = R.matmul(x, w)", "b = R.nn.relu(a)", "c = R.matmul(b, w)", "d = R.nn.relu(c)"], ["d"])
    module = rc.parse(f"@I.ir_module\nclass Module:{text}")
    stage = passed(module, "FuseOpsByPattern", table(mm_relu=MM_RELU))
    (name,) = composites(stage.after)
    relu = next(item for item in preorder(stage.after[name]) if is_op_call(item, "relax.nn.relu"))
    lines = {item.span.line for item in stage.log.ancestry(relu) if item.span is not None}
    assert lines == {7, 9}


def test_operators_on_other_types_are_other_composites() -> None:
    text = """    @R.function
    def main(x: R.Tensor((4, 16), "float32"), b: R.Tensor((16,), "float32")):
        with R.dataflow():
            lv = R.add(x, b)
            lv1 = R.add(lv, x)
            lv2 = R.add(lv1, x)
            R.output(lv2)
        return lv2
"""
    added = table(add='is_op("relax.add")(wildcard(), wildcard())')
    module = rc.parse(in_tvm(text).script())
    stage = passed(module, "FuseOpsByPattern", added)
    assert [name.name for name, _ in stage.after.relax_functions] == ["main", "fused_relax_add", "fused_relax_add1"]
    same_values(module, stage.after)
