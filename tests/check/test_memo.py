"""What inference remembers: a type is reused only if all that it was computed from is the same."""

import gc
import weakref
from dataclasses import replace

from relax_core.check.infer import Inferencer
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    TensorType,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import const
from relax_core.ops.show import show_type

FLOAT = TensorType((const(3),), "float32")


def exp(value: Expr) -> Call:
    return Call(Op("relax.exp"), (value,))


def sequence(*bindings: Binding, body: Expr) -> SeqExpr:
    return SeqExpr((BindingBlock(bindings),), body)


def module_of(**functions: Function) -> IRModule:
    return IRModule(tuple(Definition(GlobalVar(name), function) for name, function in functions.items()))


def test_a_cast_put_into_the_middle_of_a_chain_changes_what_follows() -> None:
    x, a, b = Var("x", FLOAT), Var("a"), Var("b")
    last = VarBinding(b, exp(a))
    before = Function((x,), sequence(VarBinding(a, exp(x)), last, body=b))
    cast = Call(Op("relax.astype"), (exp(x), DataTypeImm("float16")))
    after = replace(before, body=sequence(VarBinding(a, cast), last, body=b))
    inferencer = Inferencer()
    assert show_type(inferencer.infer(module_of(main=before)).types[b]) == 'R.Tensor((3,), dtype="float32")'
    assert show_type(inferencer.infer(module_of(main=after)).types[b]) == 'R.Tensor((3,), dtype="float16")'


def callee(dtype: str) -> Function:
    a = Var("a", FLOAT)
    return Function((a,), Call(Op("relax.astype"), (a, DataTypeImm(dtype))))


def test_a_changed_callee_changes_the_caller_that_is_the_same_object() -> None:
    target, x, y = GlobalVar("convert"), Var("x", FLOAT), Var("y")
    main = Definition(GlobalVar("main"), Function((x,), sequence(VarBinding(y, Call(target, (x,))), body=y)))
    inferencer = Inferencer()
    found = [
        show_type(inferencer.infer(IRModule((Definition(target, callee(dtype)), main))).types[y])
        for dtype in ("float16", "int32", "float16")
    ]
    assert found == [f'R.Tensor((3,), dtype="{dtype}")' for dtype in ("float16", "int32", "float16")]


def test_two_modules_that_share_a_function_see_their_own_globals() -> None:
    x, y = Var("x", FLOAT), Var("y")
    main = Function((x,), sequence(VarBinding(y, Call(GlobalVar("convert"), (x,))), body=y))
    inferencer = Inferencer()
    first = inferencer.infer(module_of(convert=callee("int32"), main=main))
    second = inferencer.infer(module_of(convert=callee("float16"), main=main))
    missing = inferencer.infer(module_of(main=main))
    assert show_type(first.types[y]) == 'R.Tensor((3,), dtype="int32")'
    assert show_type(second.types[y]) == 'R.Tensor((3,), dtype="float16")'
    assert show_type(missing.types[y]) == "R.Object"


def test_a_function_that_nothing_touches_is_not_typed_again() -> None:
    x = Var("x", FLOAT)
    kept = Function((x,), exp(x))
    inferencer = Inferencer()
    first = inferencer.infer(module_of(kept=kept, other=callee("int32")))
    second = inferencer.infer(module_of(kept=kept, other=callee("float16")))
    assert first.types[kept.body] is second.types[kept.body]


def test_the_memo_does_not_keep_a_module_alive() -> None:
    inferencer = Inferencer()
    function = callee("int32")
    module = module_of(main=function)
    inferencer.infer(module)
    module_lives, function_lives = weakref.ref(module), weakref.ref(function)
    del module, function
    gc.collect()
    assert module_lives() is None
    assert function_lives() is None
