"""The definitional interpreter of Relay: order, sharing, recursion, and where it stops."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError, RunError
from relax_core.ir.expr import Call, Function, GlobalVar, Op, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.vm.limits import Limits
from relax_core.vm.objects.values import AdtValue, RefValue
from relax_core.vm.relay.interpreter import RelayInterpreter
from tests.passes.relay.running import both, listed, parsed, plain


def evaluated(text: str, *args: Any, entry: str = "main") -> Any:
    return plain(rc.evaluate(parsed(text), entry, *args))


RESULTS = {
    "a let binds once, its value first": ("{ let %x = 1 + 1; %x * %x }", 4),
    "a branch that is not taken is not computed": ("{ if (False) { @hd(@tl(Cons(1, Nil))) } else { 2 } }", 2),
    "an operator is a function": ("{ @foldl(add, 0, Cons(1, Cons(2, Nil))) }", 3),
    "a constructor is a function": ("{ @map(Some, Cons(1, Nil)) }", [("Some", 1)]),
    "a global function is a value": ("{ let %f = @length; %f(Cons(1, Nil)) }", 1),
    "a function keeps what it captured": ("{ let %f = { let %k = 7; fn (%x: int32) -> int32 { %x + %k } }; %f(1) }", 8),
    "a local function calls itself": (
        "{ let %f = fn (%n: int32) -> int32 { if (%n == 0) { 1 } else { %n * %f(%n - 1) } }; %f(5) }", 120),
    "a polymorphic function is used at two types": ("{ (@id(1), @id(True)) }", (1, True)),
    "annotations are identities": ('{ on_device(annotation.compiler_end(3, compiler="x"), device_type=1) }', 3),
    "arguments are computed from left to right": (
        "{ let %r = ref(1); let %f = fn (%a: int32, %b: int32) -> int32 { %a - %b };"
        " %f({ ref_write(%r, ref_read(%r) * 2); ref_read(%r) }, { ref_write(%r, ref_read(%r) + 5); ref_read(%r) }) }",
        -5),
    "a reference in a reference": ("{ let %r = ref(ref(1)); ref_write(ref_read(%r), 2); ref_read(ref_read(%r)) }", 2),
}  # fmt: skip


@pytest.mark.parametrize("case", RESULTS)
def test_what_programs_mean(case: str) -> None:
    body, wanted = RESULTS[case]
    assert plain(both(f"def @main() {body}")) == wanted


def test_functions_of_the_host_and_of_the_program_meet() -> None:
    adder = rc.evaluate(parsed("def @main(%k: int32) { fn (%x: int32) -> int32 { %x + %k } }"), "main", 3)
    assert plain(adder(np.array(4, "int32"))) == 7


def test_a_list_from_the_host_is_taken_and_given() -> None:
    assert evaluated("def @main(%xs: List[int32]) -> List[int32] { @rev(%xs) }", listed([1, 2])) == [2, 1]


def test_a_relax_module_is_evaluated_by_definition() -> None:
    text = """
from tvm.script import ir as I
from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        @R.function
        def twice(y: R.Tensor(("n",), "float32")):
            return R.add(y, x)
        z = twice(R.nn.relu(x))
        return z
"""
    assert rc.evaluate(rc.parse(text), "main", np.array([1, -1], "float32")).tolist() == [2, -1]


def stopped(text: str, limits: Limits, *args: Any) -> tuple[str, int]:
    module = parsed(text)
    with pytest.raises(RunError) as caught:
        RelayInterpreter(module, limits).call("main", args)
    found = caught.value.diagnostics[0]
    assert found.span is not None
    return found.code, found.span.line


ENDLESS = "def @main() -> int32 {\n  @f(1)\n}\ndef @f(%x: int32) -> int32 {\n  BODY\n}"


@pytest.mark.parametrize(
    ("body", "limits", "code"),
    [
        ("1 + @f(%x)", Limits(depth=100), "VM003"),
        ("@f(%x + 1)", Limits(events=1000), "VM004"),
        ("@f(%x)", Limits(seconds=0.05), "VM005"),
        ("sum(zeros(shape=[4000, 4000], dtype=\"int32\"))", Limits(memory_bytes=1000), "VM006"),
    ],
)  # fmt: skip
def test_what_never_ends_stops_at_its_line(body: str, limits: Limits, code: str) -> None:
    assert stopped(ENDLESS.replace("BODY", body), limits) == (code, 6)


def test_a_tail_call_leaves_nothing_behind() -> None:
    text = "def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { @main(%n - 1) } }"
    assert plain(RelayInterpreter(parsed(text), Limits(depth=1)).call("main", (np.array(5000, "int32"),))) == 0


def test_an_unbound_variable_is_named() -> None:
    free = Var("nowhere")
    module = IRModule((Definition(GlobalVar("main"), Function((), Call(Op("negative"), (free,)))),))
    with pytest.raises(RunError, match="%nowhere"):
        RelayInterpreter(module).call("main", ())
    with pytest.raises(CompileError):
        rc.evaluate(module, "main")


@pytest.mark.parametrize(
    ("entry", "args", "code"),
    [("other", (), "VM009"), ("main", (), "VM010"), ("main", (1, 2), "VM010")],
)
def test_a_wrong_call_is_refused(entry: str, args: tuple[Any, ...], code: str) -> None:
    with pytest.raises(RunError) as caught:
        rc.evaluate(parsed("def @main(%x: int32) -> int32 { %x }"), entry, *args)
    assert [item.code for item in caught.value.diagnostics] == [code]


ONES = np.ones(2, "float32")
REFUSED = (
    ("another size", np.ones(3, "float32"), (1, True), "VM012"),
    ("another rank", np.ones((2, 1), "float32"), (1, True), "VM011"),
    ("another dtype", np.ones(2, "int32"), (1, True), "VM011"),
    ("a tuple for a tensor", (ONES,), (1, True), "VM011"),
    ("a tensor for a tuple", ONES, ONES, "VM011"),
    ("a field too many", ONES, (1, True, 2), "VM011"),
    ("a field of another size", ONES, (np.ones(2, "int32"), True), "VM011"),
)


@pytest.mark.parametrize(("first", "second", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_an_argument_is_what_its_parameter_declares(first: Any, second: Any, code: str) -> None:
    module = parsed("def @main(%x: Tensor[(2), float32], %t: (int32, bool), %y: Tensor[(?), float32]) { (%x, %t, %y) }")
    assert plain(rc.evaluate(module, "main", ONES, (1, True), np.ones(5, "float32")))[1] == (1, True)
    with pytest.raises(RunError) as caught:
        rc.evaluate(module, "main", first, second, ONES)
    (told,) = caught.value.diagnostics
    assert (told.code, told.span is not None) == (code, True)


def test_data_prints_its_constructors() -> None:
    assert str(listed([1, 2])) == "Cons(1, Cons(2, Nil))"
    assert str(AdtValue("Some", 0, (AdtValue("Pair", 0, ((1, 2),)),))) == "Some(Pair((1, 2)))"
    deep = listed(list(range(3000)))
    assert str(deep).endswith("Nil" + ")" * 3000)


def test_a_reference_remembers_what_it_held() -> None:
    ref = RefValue(1, 4)
    ref.write(2, 7)
    ref.write(3, 9)
    assert [ref.past(at) for at in (0, 5, 7, 8, 9, 10)] == [1, 1, 1, 2, 2, 3]
    assert ref.value == 3
