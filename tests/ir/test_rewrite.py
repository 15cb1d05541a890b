"""The rewrite log: replacements, origins, and the way back to the text."""

from relax_core.ir.expr import BindingBlock, Call, Expr, Op, SeqExpr, TensorType, Tuple, Var, VarBinding
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar, const
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, substitute
from relax_core.source import Source, Span

SOURCE = Source("m.py", "y = exp(x)\nz = y + 0\n")


def _exp_to_log(node: Node) -> Node | None:
    """Rule: exp(x) -> log(x)."""
    match node:
        case Call(op=Op(name="relax.exp"), args=args):
            return Call(Op("relax.log"), args)
        case _:
            return None


def _drop_add_zero(node: Node) -> Node | None:
    """Rule: x + 0 -> x."""
    match node:
        case Call(op=Op(name="relax.add"), args=(x, Tuple())):
            return x
        case _:
            return None


def _program() -> tuple[SeqExpr, Var]:
    x, y, z = Var("x"), Var("y"), Var("z")
    first = VarBinding(y, Call(Op("relax.exp"), (x,), span=Span(SOURCE, 4, 10)), span=Span(SOURCE, 0, 10))
    second = VarBinding(z, Call(Op("relax.add"), (y, Tuple()), span=Span(SOURCE, 15, 20)), span=Span(SOURCE, 11, 20))
    return SeqExpr((BindingBlock((first, second)),), z), x


def test_a_replaced_node_leads_back_to_its_line() -> None:
    program, _ = _program()
    log = RewriteLog()
    after = rewrite(program, _exp_to_log, log=log)
    value = after.blocks[0].bindings[0].value
    assert isinstance(value, Call)
    assert isinstance(value.op, Op)
    assert value.op.name == "relax.log"
    assert log.replacements[0].rule == "exp(x) -> log(x)"
    assert log.replacements[0].made == (value, value.op)
    span = log.locate(value)
    assert span is not None
    assert span.line == 1


def test_a_log_says_the_same_whether_it_is_read_at_once_or_at_the_end() -> None:
    program, x = _program()
    read_often, read_late = RewriteLog(), RewriteLog()
    call = Call(Op("relax.exp"), (x,))
    around = Call(Op("relax.log"), (call,))
    both = Tuple((around, call))
    for log in (read_often, read_late):
        log.replace(program, call, "first", known=iter((x,)))
        assert log is read_late or log.origins_of(call) == (program,)
        log.rebuilt(x, around)
        assert log is read_late or log.origins_of(around) == (x,)
        log.derive(both, (call,), "second")
    assert read_late.replacements == read_often.replacements
    assert [item.made for item in read_late.replacements] == [(call, call.op), (both,)]
    for node in (call, call.op, around, both):
        assert read_late.ancestry(node) == read_often.ancestry(node)
    assert read_late.origins_of(around) == (x,)


def test_a_rule_that_makes_no_node_is_recorded() -> None:
    program, _ = _program()
    log = RewriteLog()
    rewrite(program, _drop_add_zero, log=log)
    assert [(item.rule, item.made) for item in log.replacements] == [("x + 0 -> x", ())]


def test_unchanged_parts_stay_the_same_objects() -> None:
    program, _ = _program()
    log = RewriteLog()
    assert rewrite(program, lambda node: None, log=log) is program
    after = rewrite(program, _drop_add_zero, log=log)
    assert after.blocks[0].bindings[0] is program.blocks[0].bindings[0]
    assert log.origins_of(after) == (program,)


def test_a_rule_may_splice_bindings() -> None:
    program, x = _program()

    def twice(node: Node) -> tuple[Node, ...] | None:
        if isinstance(node, VarBinding) and node.var.name == "y":
            return (VarBinding(Var("t"), x), node)
        return None

    after = rewrite(program, twice, log=RewriteLog())
    assert [binding.var.name for binding in after.blocks[0].bindings] == ["t", "y", "z"]


def test_merged_logs_lead_through_several_passes() -> None:
    program, _ = _program()
    logs = [RewriteLog(), RewriteLog()]
    first = rewrite(program, _exp_to_log, log=logs[0])

    def log_to_neg(node: Node) -> Node | None:
        match node:
            case Call(op=Op(name="relax.log"), args=args):
                return Call(Op("relax.negative"), args)
            case _:
                return None

    second = rewrite(first, log_to_neg, log=logs[1])
    value = second.blocks[0].bindings[0].value
    span = RewriteLog.merged(logs).locate(value)
    assert span is not None
    assert span.line == 1


def test_substitution_reaches_into_types() -> None:
    n, m = PrimVar("n"), PrimVar("m")
    x = Var("x", TensorType((n, const(4)), "float32"))
    call: Expr = Call(Op("relax.call_tir"), (x, x), type_args=(TensorType((n,), "float32"),))
    after = substitute(call, symbols={n: m})
    assert isinstance(after, Call)
    assert after.args[0] is after.args[1]
    assert free_symbols(after) == (m,)
    assert free_vars(after) == (after.args[0],)
