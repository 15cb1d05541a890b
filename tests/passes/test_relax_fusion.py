"""FuseOps of Relax: which prim funcs become one function, as apache-tvm has it, and what a run gives."""

import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.tir_pattern import PATTERN, prim_func_kind
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from tests.apache_tvm import from_source, relax, tvm
from tests.narrow import is_tuple
from tests.passes.fusion_programs import COLUMNS, ROWS, fusion_program
from tests.passes.wheel import remarks

SEEDS = range(20)
KINDS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("prim_func_kinds.toml").read_text(encoding="utf-8")
)
PRIM_FUNC = """@I.ir_module
class M:
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((6, 20), "float32"), C: T.Buffer((6, 20), "float32")):
"""
DEPTHS = (256, 256, 2, 3, 5)


def grouped(module: IRModule) -> str:
    """Write what `main` returns as one expression, the values of a function between angle brackets."""
    main = module["main"]
    assert isinstance(main, Function)
    return _result(main, {param: param.name for param in main.params}, module)


def _result(function: Function, text_of: dict[Var, str], module: IRModule) -> str:
    assert isinstance(function.body, SeqExpr)
    for block in function.body.blocks:
        for binding in block.bindings:
            text_of[binding.var] = _words(binding.value, text_of, module)
    return _words(function.body.body, text_of, module)


def _words(value: Expr, text_of: dict[Var, str], module: IRModule) -> str:
    def words(*items: Expr) -> str:
        shown = (_words(item, text_of, module) for item in items if not isinstance(item, ShapeExpr))
        return f"({', '.join(shown)})"

    match value:
        case Var():
            return text_of[value]
        case Call(op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), *args)):
            return f"{name}{words(*args)}"
        case Call(op=GlobalVar(name=name), args=args):
            function = module[name]
            assert isinstance(function, Function)
            given = (_words(item, text_of, module) for item in args)
            return f"<{_result(function, dict(zip(function.params, given, strict=True)), module)}>"
        case Call(args=args):
            return f"operator{words(*args)}"
        case Tuple(fields=fields):
            return words(*fields)
        case TupleGetItem(tuple_value=source, index=index):
            return f"{_words(source, text_of, module)}[{index}]"
        case ExternFunc(name=name):
            return name
        case Constant(data=data):
            return str(data)
        case _:
            return type(value).__name__


def lowered(seed: int) -> Any:
    return relax.transform.LegalizeOps()(from_source(fusion_program(seed)))


@pytest.mark.parametrize("seed", SEEDS)
def test_kinds_and_groups_are_those_of_tvm(seed: int) -> None:
    theirs, depth = lowered(seed), DEPTHS[seed % len(DEPTHS)]
    ours = rc.parse(theirs.script())
    annotated = relax.transform.AnnotateTIROpPattern()(theirs)
    for name, function in annotated.functions.items():
        if isinstance(function, tvm.tirx.PrimFunc):
            prim_func = ours[name.name_hint]
            assert isinstance(prim_func, PrimFunc)
            assert prim_func_kind(prim_func) == int(function.attrs[PATTERN]), name.name_hint
    with tvm.transform.PassContext(config={"relax.FuseOps.max_depth": depth}):
        fused = relax.transform.FuseOps()(annotated)
    stages = rc.run_pipeline(ours, f"FuseOps(max_depth={depth}), FuseTIR")
    assert [rc.check(stage.after) for stage in stages] == [(), ()]
    assert grouped(stages[0].after) == grouped(rc.parse(fused.script()))
    merged, wanted = stages[1].after, rc.parse(relax.transform.FuseTIR()(fused).script())
    # A group that nothing uses has no function in TVM; those that have one are merged alike.
    names = [name for name in wanted.names if name.startswith("fused_") and not name[-1].isdigit()]
    differences = filter(None, (first_difference(merged[name], wanted[name]) for name in names))
    # TVM joins the regions of a buffer that a block reads in two places into one.
    assert [item for item in differences if not item.path.endswith(".reads")] == []


@pytest.mark.parametrize("then", ["", ", FuseTIR"], ids=["functions", "prim funcs"])
@pytest.mark.parametrize("seed", range(6))
def test_values_and_places_stay(seed: int, then: str) -> None:
    module = rc.parse(fusion_program(seed))
    rng = np.random.default_rng(seed)
    shapes = ((ROWS, COLUMNS), (COLUMNS,), (COLUMNS, COLUMNS))
    args = tuple(rng.random(shape, dtype=np.float32) for shape in shapes)
    stages = rc.run_pipeline(module, f"LambdaLift, LegalizeOps, FuseOps(max_depth=4){then}")
    fused = stages[-1].after
    assert rc.structural_equal(rc.parse(rc.script(fused)), fused)
    log = RewriteLog.merged(stage.log for stage in stages)
    assert [item for item in preorder(fused["main"]) if isinstance(item, Call) and log.locate(item) is None] == []
    found, wanted = (rc.VirtualMachine(rc.build(item))["main"](*args) for item in (fused, module))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


HEAD = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), s: R.Shape(["k"])):
        n = T.int64()
        k = T.int64()
        with R.dataflow():
            z = R.zeros(R.shape([n, k]), "float32")
            gv = R.add(z, R.const([1.0], "float32"))
            t = (gv, x)
            a = t[1]
            b = R.exp(a)
            c = R.nn.relu(b)
            R.output(c, gv)
        return (c, gv)
"""


def test_a_function_takes_constants_fields_and_dimensions() -> None:
    stages = rc.run_pipeline(rc.parse(HEAD), "LegalizeOps, FuseOps")
    text = rc.script(stages[-1].after)
    assert 'def fused_zeros_add(param_0: R.Tensor((1,), dtype="float32"), tir_vars: R.Shape([k, n]))' in text
    assert 'def fused_tir_exp_relu(t_1: R.Tensor((n, 3), dtype="float32"))' in text
    assert 'cls.fused_zeros_add(R.const([1.0], "float32"), R.shape([k, n]))' in text
    x = np.full((2, 3), -1, np.float32)
    c, ones = rc.VirtualMachine(rc.build(rc.parse(HEAD), passes="LegalizeOps, FuseOps"))["main"](x, (4,))
    np.testing.assert_allclose(c, np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(ones, np.ones((2, 4), np.float32))


def test_it_says_what_it_fused_and_why_not_more() -> None:
    stage = rc.run_pipeline(rc.parse(fusion_program(0)), "LegalizeOps, FuseOps(max_depth=2)")[-1]
    assert {item.kind for item in stage.remarks} <= {"applied", "missed", "note"}
    chain = HEAD.replace("c = R.nn.relu(b)", "d = R.nn.relu(b)\n            c = R.exp(d)")
    said = [item.message for item in rc.run_pipeline(rc.parse(chain), "LegalizeOps, FuseOps(max_depth=2)")[-1].remarks]
    assert any("2 prim funcs become one function, @fused_" in item for item in said)
    assert any("the limit is 2" in item for item in said)


@pytest.mark.parametrize("options", ["(fuse_opt_level=0)", "(max_depth=1)"])
def test_nothing_is_fused_if_the_options_say_so(options: str) -> None:
    assert not rc.run_pipeline(rc.parse(HEAD), f"LegalizeOps, FuseOps{options}")[-1].is_changed


def test_a_fused_module_is_fused_once() -> None:
    assert not rc.run_pipeline(rc.parse(HEAD), "LegalizeOps, FuseOps, FuseOps")[-1].is_changed


def test_operators_that_are_not_lowered_stand_alone() -> None:
    assert not rc.run_pipeline(rc.parse(HEAD), "FuseOps")[-1].is_changed


def test_a_merged_prim_func_takes_dimensions_as_scalars() -> None:
    stage = rc.run_pipeline(rc.parse(HEAD), "LegalizeOps, FuseOps, FuseTIR")[-1]
    text = rc.script(stage.after)
    assert 'cls.fused_zeros_add, (R.const([1.0], "float32"), R.prim_value(k), R.prim_value(n)), out_ty=' in text
    assert [name for name in stage.after.names if not name.startswith("fused_")] == ["main"]
    assert sum("become one" in item for item in remarks(stage, "applied")) == 2
    modules = (stage.after, rc.parse(HEAD))
    results = [rc.VirtualMachine(rc.build(item))["main"](np.ones((2, 3), np.float32), (4,)) for item in modules]
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


BY_HAND = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.sblock("B"):
                v = T.axis.spatial(2, i)
                B[v] = A[v] + A[v]

    @R.function(private=True)
    def fused(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((2,), "float32"))
            gv = BODY
            R.output(gv)
        return RESULT

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        y = CALL
        return y
"""
BODY, RESULT, CALL = 'R.call_tir(cls.double, (a,), out_ty=R.Tensor((2,), "float32"))', "gv", "cls.fused(x)"


@pytest.mark.parametrize(
    ("body", "result", "call", "why"),
    [
        (BODY, RESULT, CALL, ""),
        ("R.exp(a)", RESULT, CALL, "gv is no call of a prim func"),
        (BODY, "x", CALL, "a result is a parameter, or comes twice"),
        (BODY, RESULT, "(cls.fused, x)", "it is used as a value or from outside"),
    ],
    ids=["merged", "an operator", "a parameter", "a value"],
)
def test_what_cannot_be_merged_stays_a_function_and_says_why(body: str, result: str, call: str, why: str) -> None:
    text = BY_HAND.replace("BODY", body).replace("RESULT", result).replace("CALL", call)
    (stage,) = rc.run_pipeline(rc.parse(text), "FuseTIR")
    assert isinstance(stage.after["fused"], Function if why else PrimFunc)
    assert any(why in item.message for item in stage.remarks if item.kind == "missed") == bool(why)
    x = np.arange(2, dtype=np.float32)
    found, wanted = (rc.VirtualMachine(rc.build(item))["main"](x) for item in (stage.after, rc.parse(text)))
    if is_tuple(wanted):
        found, wanted = found[1], wanted[1]
    np.testing.assert_array_equal(found, wanted)


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(rc.CompileError, match="max_depth is at least 1"):
        rc.run_pipeline(rc.parse(HEAD), "FuseOps(max_depth=0)")


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_prim_func(name: str) -> None:
    (_, function), *_ = rc.parse(PRIM_FUNC + indent(KINDS[name]["body"], " " * 8)).prim_funcs
    assert prim_func_kind(function) == KINDS[name]["kind"]


@pytest.mark.tvm
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_prim_func_in_tvm(name: str) -> None:
    theirs = from_source(PRIM_FUNC + indent(KINDS[name]["body"], " " * 8), check_well_formed=False)
    assert relax.transform.AnnotateTIROpPattern()(theirs)["f"].attrs[PATTERN] == KINDS[name]["kind"]
