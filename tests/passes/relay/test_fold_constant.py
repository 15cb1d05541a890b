"""FoldConstant: what only constants decide is computed."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.expr import Call, Constant, Function, GlobalVar, Op, Tuple, constant
from relax_core.ir.module import Definition, IRModule
from tests.passes.relay.after import Case, check_case, last, operators
from tests.passes.relay.running import parsed

T = "Tensor[(2, 3), float32]"
CASES = (
    Case("an operator", "def @main() { add(2f, 3f) }", "def @main() { 5f }", remarks=("`add` is computed",)),
    Case("through a let", "def @main() { let %a = add(1, 2); multiply(%a, %a) }", "def @main() { 9 }"),
    Case(
        "through a let of a variable",
        "def @main(%x: int32) { let %a = 2; let %b = %a; add(%x, multiply(%b, 3)) }",
        "def @main(%x: int32) { add(%x, 6) }",
    ),
    Case(
        "below what is not constant",
        f"def @main(%x: {T}) {{ add(%x, multiply(2f, 3f)) }}",
        f"def @main(%x: {T}) {{ add(%x, 6f) }}",
    ),
    Case(
        "a field of a tuple",
        "def @main(%x: int32) { %0 = (%x, add(1, 2)); %0.1 }",
        "def @main(%x: int32) { 3 }",
    ),
    Case(
        "an operator with several results",
        "def @main(%x: int32) { %0 = split(full(7, shape=[2], dtype=\"int32\"), indices_or_sections=2); %1 = %0.1; "
        "add(%x, sum(%1)) }",
        "def @main(%x: int32) { add(%x, 7) }",
    ),
    Case("a tuple of constants", "def @main() { sum(concatenate((full(1, shape=[2], dtype=\"int32\"), "
         "full(2, shape=[1], dtype=\"int32\")))) }", "def @main() { 4 }"),
    Case("a condition that holds", "def @main(%x: int32) { if (less(1, 2)) { %x } else { 0 } }",
         "def @main(%x: int32) { %x }", remarks=("the condition is True",)),
    Case("a condition that does not", "def @main(%x: int32) { if (False) { %x } else { add(%x, 1) } }",
         "def @main(%x: int32) { add(%x, 1) }"),
    Case("the number of elements", f"def @main(%x: {T}) {{ ndarray_size(%x) }}", f"def @main(%x: {T}) {{ 6 }}"),
    Case("one size of a shape", f"def @main(%x: {T}) {{ take(shape_of(%x), 1) }}", f"def @main(%x: {T}) {{ 3 }}"),
    Case("the shape of what is computed", f"def @main(%x: {T}) {{ sum(shape_of(concatenate((%x, %x)))) }}",
         f"def @main(%x: {T}) {{ 7 }}"),
    Case("a shape with an unknown size", "def @main(%x: Tensor[(?, 3), float32]) { shape_of(%x) }", None,
         remarks=("known only when the program runs",)),
    Case("what is created without arguments",
         f"def @main(%x: {T}) {{ add(%x, ones(shape=[2, 3], dtype=\"float32\")) }}"),
    Case("a primitive function", "def @main() { %0 = fn (Primitive=1) -> int32 { add(1, 2) }; %0() }"),
    Case("an effect", "def @main() { let %r = ref(1); let %_ = ref_write(%r, 2); ref_read(%r) }"),
    Case("a tuple with an effect", "def @main(%r: ref(int32)) { %0 = (ref_write(%r, 1), 2); %0.1 }", None,
         remarks=("a field of it has an effect",)),
    Case("a tuple with an effect in a clause",
         "def @main(%r: ref(int32), %o: Option[int32]) { "
         "%0 = match (%o) { Some(%v) => ref_write(%r, %v), None => (), }; %1 = (%0, 2); %1.1 }"),
    Case("an annotation", "def @main() { annotation.stop_fusion(1f) }", None, remarks=("more than compute a value",)),
    Case("a result that is large", "def @main() { full(1f, shape=[100000, 10000], dtype=\"float32\") }", None,
         remarks=("4,000,000,000 bytes",)),
    Case("a recursive function",
         "def @f(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { @f(subtract(%n, add(0, 1))) } }",
         "def @f(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { @f(subtract(%n, 1)) } }"),
    Case("inside of a function literal",
         "def @main(%x: int32) { let %f = fn (%y: int32) { add(%y, add(1, 2)) }; %f(%x) }",
         "def @main(%x: int32) { let %f = fn (%y: int32) { add(%y, 3) }; %f(%x) }"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_constants_are_folded(case: Case) -> None:
    check_case(case, "FoldConstant")


def test_a_fold_computes_what_the_interpreter_does() -> None:
    data = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    names = ("exp", "tanh", "nn.softmax", "nn.relu", "transpose", "sum", "argmax", "nn.batch_flatten")
    fields = tuple(Call(Op(name), (Constant(data),)) for name in names)
    main = Definition(GlobalVar("main"), Function((), Tuple(fields)))
    module = IRModule((main,), attrs=(("dialect", "relay"),))
    wanted = rc.evaluate(module, "main")
    after = last(module, "FoldConstant").after
    assert operators(after) == []
    for found, value in zip(rc.evaluate(after, "main"), wanted, strict=True):
        np.testing.assert_array_equal(found, value)
        assert found.dtype == value.dtype


def test_a_constant_is_no_view_of_another() -> None:
    data = np.zeros((2, 3), "float32")
    body = Call(Op("transpose"), (constant(data),))
    module = IRModule((Definition(GlobalVar("main"), Function((), body)),), attrs=(("dialect", "relay"),))
    folded = last(module, "FoldConstant").after["main"]
    assert isinstance(folded, Function)
    assert isinstance(folded.body, Constant)
    assert not np.shares_memory(folded.body.data, data)
    assert not folded.body.data.flags.writeable


def test_quantized_operators_fold_only_on_request() -> None:
    text = 'def @main() { qnn.quantize(1f, 0.5f, 0, out_dtype="int8") }'
    stage = last(parsed(text), "FoldConstant")
    assert not stage.is_changed
    assert "fold_qnn" in stage.remarks[0].message
    assert last(parsed(text), "FoldConstant(fold_qnn=True)").is_changed
