"""Each rule of well-formedness names its culprit, also in modules that no text can give."""

from dataclasses import replace

import pytest

from relax_core.bytecode.build import build
from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.check.rules.well_formed import RULES, well_formed
from relax_core.codes import CODES
from relax_core.ir.absent import no_data, no_value
from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Null,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    Var,
    VarBinding,
    constant,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimVar, binary, const
from relax_core.ir.tir import NOTHING, Block, Buffer, BufferParam, Evaluate, For, IterVar, LetStmt, PrimFunc, seq
from tests.check.programs import module_of

RELAX = (("dialect", "relax"),)
FLOAT = TensorType((const(3),), "float32")
x, y, z = Var("x", FLOAT), Var("y"), Var("z")
inner, n = DataflowVar("lv"), PrimVar("n")


AXIS = IterVar(PrimVar("vi"), const(4), PrimVar("i"), "spatial")
LOOP = For(PrimVar("i"), const(0), const(4), NOTHING)
BLOCK = Block("b", (replace(AXIS, binding=LOOP.var),), Evaluate(LOOP.var))


def exp(value: Expr) -> Call:
    return Call(Op("relax.exp"), (value,))


def function(*blocks: BindingBlock, body: Expr, params: tuple[Var, ...] = (x,)) -> Function:
    return Function(params, SeqExpr(blocks, body))


def bind(var: Var, value: Expr) -> BindingBlock:
    return BindingBlock((VarBinding(var, value),))


def main(item: Function | PrimFunc) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), item),), attrs=RELAX)


def in_place(indices: int | tuple[int, ...], *types: TensorType) -> Call:
    items = indices if isinstance(indices, tuple) else (indices,)
    written = Tuple(tuple(PrimValue(const(item)) for item in items))
    return Call(Op("relax.call_inplace_packed"), (ExternFunc("f"), written, x), type_args=types)


KERNEL = GlobalVar("kernel")
CONDITION = constant(True)
CALL_TIR = Op("relax.call_dps_packed")

BROKEN = (
    ("a variable bound twice", main(function(bind(y, exp(x)), bind(y, exp(x)), body=y)), ["WF001"]),
    ("a variable that nothing binds", main(function(bind(y, exp(z)), body=y)), ["WF002"]),
    ("a variable before its binding", main(function(bind(y, exp(z)), bind(z, exp(x)), body=y)), ["WF002"]),
    (
        "a variable of a branch outside it",
        main(
            function(
                bind(y, If(CONDITION, SeqExpr((bind(z, exp(x)),), z), SeqExpr((), x))),
                body=z,
            )
        ),
        ["WF002"],
    ),
    (
        "a variable that is only declared",
        main(function(bind(y, no_value(FLOAT, None)), body=exp(y))),
        ["WF024"],
    ),
    ("data that the text lacks", main(function(body=no_data("relax.expr.Constant", 0, FLOAT, None))), ["WF025"]),
    (
        "a dataflow variable outside its block",
        main(function(DataflowBlock((VarBinding(inner, exp(x)),)), body=inner)),
        ["WF003"],
    ),
    ("a dataflow variable bound elsewhere", main(function(bind(inner, exp(x)), body=inner)), ["WF015"]),
    (
        "a packed call in a dataflow block",
        main(function(DataflowBlock((VarBinding(y, Call(ExternFunc("f"), (x,))),)), body=y)),
        ["WF004"],
    ),
    ("a packed call in a pure function", main(function(bind(y, Call(ExternFunc("f"), (x,))), body=y)), ["WF005"]),
    (
        "a symbol without a value",
        main(function(bind(y, Call(Op("relax.shape_to_tensor"), (ShapeExpr((n,)),))), body=y)),
        ["WF006"],
    ),
    (
        "a symbol in an expression only",
        main(function(body=y, params=(Var("y"), y, Var("w", TensorType((binary("*", n, const(2)),), "float32"))))),
        ["WF006"],
    ),
    ("a parameter twice", main(function(body=x, params=(x, x))), ["WF007"]),
    ("a global of nowhere", main(function(bind(y, Call(GlobalVar("f"), (x,))), body=y)), ["WF008"]),
    ("another object for a global", main(function(bind(y, GlobalVar("main")), body=y)), ["WF008"]),
    (
        "a private function with a name outside",
        main(Function((x,), x, attrs=attrs_of({"global_symbol": "main"}), is_private=True)),
        ["WF009"],
    ),
    (
        "a conditional in a dataflow block",
        main(function(DataflowBlock((VarBinding(y, If(CONDITION, SeqExpr((), x), SeqExpr((), x))),)), body=y)),
        ["WF010"],
    ),
    ("a shape that is called", main(function(bind(y, Call(ShapeExpr(()), ())), body=y)), ["TY023", "WF011"]),
    ("an operator as a value", main(function(bind(y, Op("relax.exp")), body=y)), ["WF011"]),
    (
        "inputs that are no tuple",
        main(function(bind(y, Call(CALL_TIR, (ExternFunc("f"), x), type_args=(FLOAT,))), body=y)),
        ["WF012"],
    ),
    (
        "a buffer without a parameter",
        main(PrimFunc((), (BufferParam(PrimVar("a", "handle"), Buffer("A", (const(3),))),), NOTHING)),
        ["WF013"],
    ),
    (
        "two functions of one name",
        IRModule(
            tuple(Definition(GlobalVar("f"), Function((Var("x", FLOAT),), constant(1))) for _ in range(2)), attrs=RELAX
        ),
        ["WF014"],
    ),
    ("another name outside", main(Function((x,), x, attrs=attrs_of({"global_symbol": "f"}))), ["WF017"]),
    (
        "a promise that is taken back",
        main(Function((x,), x, attrs=attrs_of({"relax.force_pure": True}), is_pure=False)),
        ["WF018"],
    ),
    (
        "a device of nowhere",
        main(Function((Var("x", TensorType((const(3),), "float32", vdevice="cuda:0:global")),), constant(1))),
        ["WF019"],
    ),
    ("no input written in place", main(function(bind(y, in_place(-1, FLOAT)), body=y)), ["WF020"]),
    ("an input that is not there", main(function(bind(y, in_place(1, FLOAT)), body=y)), ["WF020"]),
    ("a result unlike its input", main(function(bind(y, in_place(0, TensorType((const(4),)))), body=y)), ["WF020"]),
    ("an input written twice", main(function(bind(y, in_place((0, 0), FLOAT, FLOAT)), body=y)), ["WF020"]),
    (
        "a prim func with too few arguments",
        IRModule(
            (
                Definition(KERNEL, PrimFunc((PrimVar("a", "handle"),), (), NOTHING)),
                Definition(GlobalVar("main"), replace(function(bind(y, Call(KERNEL, ())), body=x), is_pure=False)),
            ),
            attrs=RELAX,
        ),
        ["WF021"],
    ),
    ("a scalar of a prim func without a value", main(PrimFunc((), (), Evaluate(PrimVar("i")))), ["WF022"]),
    (
        "a loop variable behind its loop",
        main(PrimFunc((), (), seq((LOOP, Evaluate(LOOP.var))))),
        ["WF022"],
    ),
    (
        "two lets of one variable",
        main(PrimFunc((), (), LetStmt(LOOP.var, const(1), LetStmt(LOOP.var, const(2), NOTHING)))),
        ["WF022"],
    ),
    (
        "a block that uses the loop instead of its axis",
        main(PrimFunc((), (), replace(LOOP, body=BLOCK), is_s_tir=True)),
        ["WF023"],
    ),
)

SOUND = (
    ("a symbol of a match_cast", main(function(
        BindingBlock((MatchCast(y, x, TensorType((n,), "float32")),)),
        bind(z, Call(Op("relax.zeros_like"), (y, Null()))), body=z))),
    ("a symbol in the declared result", main(Function(
        (x,), SeqExpr((BindingBlock((MatchCast(y, x, TensorType((n,), "float32")),)),), y),
        ret_type=TensorType((n,), "float32")))),
    ("a function that is taken as pure", main(Function(
        (x,), Call(ExternFunc("f"), (x,)), attrs=attrs_of({"relax.force_pure": True})))),
    ("a loop variable in a block of before 2026", main(PrimFunc((), (), replace(LOOP, body=BLOCK)))),
    ("a loop variable in a block without axes", main(
        PrimFunc((), (), replace(LOOP, body=replace(BLOCK, iter_vars=())), is_s_tir=True))),
    ("no parameters and an empty tuple", main(Function((), Tuple()))),
)  # fmt: skip


@pytest.mark.parametrize(("module", "codes"), [item[1:] for item in BROKEN], ids=[item[0] for item in BROKEN])
def test_a_rule_finds_its_culprit(module: IRModule, codes: list[str]) -> None:
    assert sorted(item.code for item in check(module)) == codes


@pytest.mark.parametrize("module", [item[1] for item in SOUND], ids=[item[0] for item in SOUND])
def test_a_sound_module_has_no_diagnostics(module: IRModule) -> None:
    assert check(module) == ()


def test_every_rule_is_broken_by_a_module_here() -> None:
    broken = {code for _, _, codes in BROKEN for code in codes}
    assert {rule.code for rule in RULES} <= broken
    assert broken <= set(CODES)


LOCALS = """
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
        @R.function
        def even(a: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            if c:
                r = odd(a)
            else:
                r = a
            return r

        @R.function
        def odd(a: R.Tensor((3,), "float32")):
            return even(a)

        @R.function
        def loop(a: R.Tensor((3,), "float32")):
            if c:
                r = loop(R.exp(a))
            else:
                r = a
            return r

        y = odd(loop(x))
        return y
"""


def test_local_functions_may_refer_to_themselves_and_to_later_ones() -> None:
    module = module_of(LOCALS)
    assert check(module) == ()
    assert well_formed(module, infer(module))[0] == ()


def test_a_device_that_tvm_prints_without_its_number_is_a_warning_and_the_module_runs() -> None:
    module = module_of("""
    @R.function
    def main(x: R.Tensor((2,), "float32", vdevice="cuda:-1:global")):
        y = R.add(x, x)
        return y
""")
    assert [(item.code, item.severity) for item in check(module)] == [("WF019", "warning")]
    assert build(module).functions
