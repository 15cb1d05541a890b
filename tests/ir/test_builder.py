"""A-normal form and fresh names."""

from relax_core.ir.expr import (
    LEAVES,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    Tuple,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.rewriting.builder import Names, normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.source import Source, Span

SOURCE = Source("m.py", "print(add(exp(x), x))")


def _main(body: Expr, *params: Var) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), Function(params, body)),))


def _exp(x: Expr) -> Call:
    return Call(Op("relax.exp"), (x,), span=Span(SOURCE, 10, 16))


def test_fresh_names_do_not_clash() -> None:
    names = Names(["lv", "lv1"])
    assert [names.fresh("lv"), names.fresh("lv"), names.fresh("x")] == ["lv2", "lv3", "x"]


def test_nested_calls_are_bound_in_order_of_evaluation() -> None:
    x = Var("x")
    log = RewriteLog()
    module = normalize(_main(Call(Op("relax.add"), (_exp(x), _exp(_exp(x)))), x), log)
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, SeqExpr)
    bindings = main.body.blocks[0].bindings
    assert [binding.var.name for binding in bindings if isinstance(binding, VarBinding)] == ["gv", "gv1", "gv2", "gv3"]
    assert all(log.locate(binding) is not None for binding in bindings[:3])


def test_a_normal_module_stays_the_same_object() -> None:
    x = Var("x")
    module = normalize(_main(_exp(_exp(x)), x), RewriteLog())
    assert normalize(module, RewriteLog()) is module


def test_values_nested_in_a_dataflow_block_become_dataflow_variables() -> None:
    x, y = Var("x"), Var("y")
    body = SeqExpr((DataflowBlock((VarBinding(y, _exp(_exp(x))),)),), y)
    main = normalize(_main(body, x), RewriteLog())["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, SeqExpr)
    first = main.body.blocks[0].bindings[0]
    assert isinstance(first, VarBinding)
    assert isinstance(first.var, DataflowVar)
    assert first.var.name == "lv"


def test_branches_become_sequences_and_inline_tuples_of_operators_stay() -> None:
    x, c = Var("x"), Var("c")
    call = Call(Op("relax.concat"), (Tuple((_exp(x), x)),))
    main = normalize(_main(If(c, call, x), c, x), RewriteLog())["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, SeqExpr)
    binding = main.body.blocks[0].bindings[0]
    assert isinstance(binding, VarBinding)
    assert isinstance(binding.value, If)
    branch = binding.value.true_branch
    assert isinstance(branch, SeqExpr)
    concat = branch.blocks[0].bindings[1]
    assert isinstance(concat, VarBinding)
    assert isinstance(concat.value, Call)
    assert isinstance(concat.value.args[0], Tuple)
    assert all(isinstance(field, LEAVES) for field in concat.value.args[0].fields)
