"""A check that looks only at what changed since a sound module finds what a check of everything finds."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.ir.expr import BindingBlock, Call, DataflowBlock, Function, Op, PrimValue, SeqExpr, Tuple, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type
from tests.passes.programs import parse

TEXT = """    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @T.prim_func(private=True)
    def double(a: T.Buffer((T.int64(4),), "float32"), b: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            b[i] = a[i] * T.float32(2)

    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            first = R.exp(x)
            second = R.negative(first)
            R.output(second)
        said = R.print(second, format="{}")
        called = R.call_tir(cls.double, (second,), out_sinfo=R.Tensor((4,), "float32"))
        helped = cls.helper(called)
        placed = R.to_vdevice(helped, "llvm:0")
        ones = R.ones(R.shape([n]), "float32")
        return placed
"""


def with_function(module: IRModule, name: str, change: Callable[[Function], Function]) -> IRModule:
    definition = module.find(name)
    assert definition is not None
    assert isinstance(definition.function, Function)
    return module.with_definitions(replace(definition, function=change(definition.function)))


def with_blocks(change: Callable[[list[BindingBlock]], list[BindingBlock]]) -> Callable[[IRModule], IRModule]:
    def of_function(function: Function) -> Function:
        assert isinstance(function.body, SeqExpr)
        return replace(function, body=replace(function.body, blocks=tuple(change([*function.body.blocks]))))

    return lambda module: with_function(module, "main", of_function)


def with_prim_func(change: Callable[[PrimFunc], PrimFunc]) -> Callable[[IRModule], IRModule]:
    def changed(module: IRModule) -> IRModule:
        definition = module.find("double")
        assert definition is not None
        assert isinstance(definition.function, PrimFunc)
        return module.with_definitions(replace(definition, function=change(definition.function)))

    return changed


def swapped(blocks: list[BindingBlock]) -> list[BindingBlock]:
    """Use a variable before it is bound, by bindings that are the nodes that they were."""
    return [replace(blocks[0], bindings=blocks[0].bindings[::-1]), *blocks[1:]]


def twice(blocks: list[BindingBlock]) -> list[BindingBlock]:
    return [*blocks[:-1], replace(blocks[-1], bindings=(*blocks[-1].bindings, blocks[-1].bindings[1]))]


def printing_in_dataflow(blocks: list[BindingBlock]) -> list[BindingBlock]:
    first, rest = blocks
    return [DataflowBlock((*first.bindings, rest.bindings[0])), BindingBlock(rest.bindings[1:])]


def outside_of_dataflow(blocks: list[BindingBlock]) -> list[BindingBlock]:
    return [BindingBlock(blocks[0].bindings), *blocks[1:]]


def with_longer_operand(blocks: list[BindingBlock]) -> list[BindingBlock]:
    """Give the operand of a call that stays the node that it was another type."""
    head, *tail = blocks[0].bindings
    assert isinstance(head.value, Call)
    twice = Call(Op("relax.concat"), (Tuple((*head.value.args, *head.value.args)), PrimValue(IntImm(0))))
    return [replace(blocks[0], bindings=(replace(head, value=twice), *tail)), *blocks[1:]]


def without_symbol(module: IRModule) -> IRModule:
    return with_function(module, "main", lambda function: replace(function, params=function.params[:1]))


BREAKS: tuple[tuple[str, Callable[[IRModule], IRModule], set[str]], ...] = (
    ("a prim func has another parameter",
     with_prim_func(lambda function: replace(function, params=(*function.params, PrimVar("n")))), {"TY036"}),
    ("a prim func has other buffers",
     with_prim_func(lambda function: replace(function, buffers=tuple(
         replace(item, buffer=replace(item.buffer, dtype="int32")) for item in function.buffers))), {"TY029"}),
    ("a prim func is gone",
     lambda module: replace(module, definitions=tuple(item for item in module if item.var.name != "double")),
     {"WF008"}),
    ("a function is gone",
     lambda module: replace(module, definitions=tuple(item for item in module if item.var.name != "helper")),
     {"WF008"}),
    ("a function takes another type",
     lambda module: with_function(module, "helper", lambda function: replace(
         function, params=(), body=SeqExpr((), function.params[0]))), {"TY024", "WF002"}),
    ("no device is listed", lambda module: replace(module, global_infos=()), {"WF019"}),
    ("the function claims to be pure",
     lambda module: with_function(module, "main", lambda function: replace(function, is_pure=True)), {"WF005"}),
    ("bindings change places", with_blocks(swapped), {"WF002"}),
    ("a binding is there twice", with_blocks(twice), {"WF001"}),
    ("a side effect is moved into a dataflow block", with_blocks(printing_in_dataflow), {"WF004"}),
    ("a dataflow variable is moved out of its block", with_blocks(outside_of_dataflow), {"WF015"}),
    ("an operand has another type", with_blocks(with_longer_operand), {"TY029"}),
    ("a parameter with the symbol is gone", without_symbol, {"WF006"}),
)  # fmt: skip


@pytest.mark.parametrize(("change", "codes"), [item[1:] for item in BREAKS], ids=[item[0] for item in BREAKS])
def test_what_breaks_a_function_that_looks_unchanged_is_found(
    change: Callable[[IRModule], IRModule], codes: set[str]
) -> None:
    before = parse(TEXT)
    assert check(before) == ()
    broken = change(before)
    found = check(broken, before=(before,))
    assert {item.code for item in found} == codes
    assert found == check(replace(broken))


@pytest.mark.parametrize("name", ["loop.py", "mlp.py", "symbolic_shapes.py"])
def test_a_stage_is_sound_alone_as_after_the_one_before(name: str) -> None:
    text = (Path(__file__).parents[2] / "samples" / "relax" / name).read_text(encoding="utf-8")
    for stage in rc.run_pipeline(rc.parse(text, name), "LambdaLift, default_build"):
        assert check(stage.after, before=(stage.before,)) == check(replace(stage.after))


def test_of_two_alike_calls_that_are_wrong_both_are_told() -> None:
    text = """    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((3,), "float32")):
        a = R.add(x, y)
        b = R.add(x, y)
        return (a, b)
"""
    with pytest.raises(rc.CompileError) as error:
        rc.build(parse(text))
    assert len({item.span for item in error.value.diagnostics}) == 2


def test_calls_with_other_literals_are_not_alike() -> None:
    module = parse("""    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.sum(x, axis=[0])
        b = R.sum(x, axis=[1])
        c = R.sum(x, axis=[0], keepdims=True)
        d = R.sum(x, axis=[0])
        return (a, b, c, d)
""")
    types = infer(module).types
    found = {node.name: show_type(types[node]) for node in preorder(module) if isinstance(node, Var)}
    shapes = {"a": "(3,)", "b": "(2,)", "c": "(1, 3)", "d": "(3,)"}
    assert all(found[name] == f'R.Tensor({shape}, dtype="float32")' for name, shape in shapes.items())
