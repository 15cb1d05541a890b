"""Types of Relay programs: polymorphism, data types, higher-order functions, recursion, references, operators."""

from collections.abc import Callable

import pytest

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    If,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TypeVar,
    Var,
    constant,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.relay import Let, RefCreate
from relax_core.ops.relay.show import show_type
from tests.check.relay.programs import (
    FUNCTIONS,
    LIST,
    VECTOR,
    by_hand,
    codes,
    local_types,
    module_of,
    signatures,
)

# name of a function -> its type, for programs in which not everything is declared.
PROGRAMS = {
    "an operator": (
        "def @main(%x: Tensor[(2, 3), float32]) { add(%x, 1f) }",
        "fn(Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32]",
    ),
    "unknown sizes take known ones": (
        "def @main(%x: Tensor[(?, 3), float32], %y: Tensor[(2, 1), float32]) { add(%x, %y) }",
        "fn(Tensor[(?, 3), float32], Tensor[(2, 1), float32]) -> Tensor[(2, 3), float32]",
    ),
    "the weight follows from the data": (
        "def @main(%x: Tensor[(2, 3), float32], %w, %b) { nn.bias_add(nn.dense(%x, %w, units=5), %b) }",
        "fn(Tensor[(2, 3), float32], Tensor[(5, 3), float32], Tensor[(5,), float32]) -> Tensor[(2, 5), float32]",
    ),
    "a convolution and a normalisation": (
        "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w, %g, %b, %m, %v) {"
        " %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);"
        " %1 = nn.batch_norm(%0, %g, %b, %m, %v); nn.max_pool2d(%1.0, pool_size=[2, 2], strides=[2, 2]) }",
        "fn(Tensor[(1, 3, 8, 8), float32], Tensor[(4, 3, 3, 3), float32], Tensor[(4,), float32], "
        "Tensor[(4,), float32], Tensor[(4,), float32], Tensor[(4,), float32]) -> Tensor[(1, 4, 4, 4), float32]",
    ),
    "an argument known only later": (
        "def @main() { let %f = fn (%x) { nn.relu(%x) }; %f(1f) }", "fn() -> float32",
    ),
    "recursion without a declared result": (
        "def @main(%n: int32) { if (less(%n, 1)) { 1 } else { multiply(%n, @main(subtract(%n, 1))) } }",
        "fn(int32) -> int32",
    ),
    "a local recursive function": (
        "def @main(%n: int32) { let %f = fn (%k) { if (less(%k, %n)) { %f(add(%k, 1)) } else { 2f } }; %f(0) }",
        "fn(int32) -> float32",
    ),
    "mutual recursion without declared results": (
        "def @main(%n: int32) { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }"
        "def @odd(%n: int32) { if (equal(%n, 0)) { False } else { @main(subtract(%n, 1)) } }",
        "fn(int32) -> bool",
    ),
    "polymorphic mutual recursion without declared results": (
        LIST + "def @main[A](%xs: List[A], %z: A) { match (%xs) { Nil => (%z, %xs), Cons(%x, %r) => @other(%x, %r) } }"
        "def @other[B](%x: B, %xs: List[B]) { @main(%xs, %x) }",
        "fn[A](List[A], A) -> (A, List[A])",
    ),
    "recursion at another type": (
        LIST + "def @main[A](%xs: List[A], %n: int32) -> int32 {"
        " if (less(%n, 1)) { %n } else { @main(Cons(%xs, Nil), subtract(%n, 1)) } }",
        "fn[A](List[A], int32) -> int32",
    ),
    "recursion at another type without a declared result": (
        LIST + "def @main[A](%x: A, %n: int32) {"
        " if (less(%n, 1)) { %n } else { @main((%x, %x), subtract(%n, 1)) } }",
        "fn[A](A, int32) -> int32",
    ),
    "a constructor as an argument, flipped": (
        LIST + FUNCTIONS + "def @main[A](%xs: List[A]) { @foldl(@flip(Cons), Nil, %xs) }",
        "fn[A](List[A]) -> List[A]",
    ),
    "an operator as an argument": (
        LIST + FUNCTIONS + "def @main(%xs: List[Tensor[(2), float32]]) {"
        ' @foldl(add, zeros(shape=[2], dtype="float32"), @map(nn.relu, %xs)) }',
        "fn(List[Tensor[(2,), float32]]) -> Tensor[(2,), float32]",
    ),
    "a polymorphic function bound by let, at two types": (
        "def @id[A](%x: A) -> A { %x } def @main() { let %f = @id; (%f(1), %f(2f)) }", "fn() -> (int32, float32)",
    ),
    "a polymorphic local function": (
        "def @main() { let %f = fn [A](%x: A) { (%x, %x) }; (%f(1), %f(2f)) }",
        "fn() -> ((int32, int32), (float32, float32))",
    ),
    "functions that give functions": (
        "def @twice[A](%f: fn(A) -> A) { fn (%x: A) { %f(%f(%x)) } }"
        " def @main(%x: float32) { @twice(@twice(exp))(%x) }",
        "fn(float32) -> float32",
    ),
    "references": (
        "def @main(%x: float32) { let %r = ref((%x, 1)); let %u = ref_write(%r, (exp(%x), 2)); ref_read(%r).0 }",
        "fn(float32) -> float32",
    ),
    "a field of a parameter whose type is known later": (
        "def @main(%x: float32) { let %f = fn (%p) { %p.1 }; %f((1, %x)) }", "fn(float32) -> float32",
    ),
    "patterns bind": (
        LIST + "type Tree[A] { Rose(A, List[Tree[A]]) }"
        "def @main(%t: Tree[(int32, float32)]) { match (%t) { Rose((%a, %b), _) => (%b, %a) } }",
        "fn(Tree[(int32, float32)]) -> (float32, int32)",
    ),
    "a match that may fail": (
        LIST + "def @main[A](%xs: List[A]) { match? (%xs) { Cons(%x, _) => %x } }",
        "fn[A](List[A]) -> A",
    ),
    "holes in annotations": (
        LIST + "def @main(%x: float32) { let %l: List[_] = Cons(%x, Nil); %l }", "fn(float32) -> List[float32]",
    ),
    "an unknown size in a branch": (
        "def @main(%c: bool, %x: Tensor[(?), int32], %y: Tensor[(3), int32]) { if (%c) { %x } else { %y } }",
        "fn(bool, Tensor[(?,), int32], Tensor[(3,), int32]) -> Tensor[(?,), int32]",
    ),
    "nothing": ("def @main() { () }", "fn() -> ()"),
    "annotations of devices and compilers": (
        "def @main(%x: (float32, int32)) { annotation.stop_fusion(device_copy(%x)) }",
        "fn((float32, int32)) -> (float32, int32)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "type_"), PROGRAMS.values(), ids=PROGRAMS)
def test_the_type_of_a_program(text: str, type_: str) -> None:
    module = module_of(text)
    assert check(module) == ()
    assert signatures(module)["main"] == type_


def test_variables_have_types() -> None:
    module = module_of(LIST + "def @main(%x: float32) { let %l = Cons(%x, Nil); match? (%l) { Cons(%h, %t) => %h } }")
    assert local_types(module) == {"x": "float32", "l": "List[float32]", "h": "float32", "t": "List[float32]"}


def test_calls_have_type_arguments() -> None:
    module = module_of(LIST + FUNCTIONS + "def @main(%x: float32) { @map(exp, Cons(%x, Nil)) }")
    body = next(item.function for item in module if item.var.name == "main")
    assert isinstance(body, Function)
    assert [show_type(item) for item in infer(module).type_args[body.body]] == ["float32", "float32"]


def test_a_clash_says_where_both_types_come_from() -> None:
    module = module_of(
        "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4, 3), float32]) {\n"
        "  let %z = nn.relu(%x);\n  add(%z, %y)\n}"
    )
    (found,) = check(module)
    assert found.message == "`add` cannot broadcast (2, 3) and (4, 3): 2 is not 4"
    assert [words for words, _ in found.related] == [
        "argument 1 of `add` is Tensor[(2, 3), float32], because "
        "%z is Tensor[(2, 3), float32]: it is the value bound here",
        "`nn.relu` gives Tensor[(2, 3), float32]",
        "argument 2 of `add` is Tensor[(4, 3), float32], because %y is declared as Tensor[(4, 3), float32]",
    ]
    assert [span.line for _, span in found.related] == [3, 3, 2]


def test_a_type_parameter_is_any_type() -> None:
    (found,) = check(module_of("def @main[A](%x: A) -> A { 1f }"))
    assert "A is a type parameter" in found.hint


def test_a_function_that_only_calls_itself_has_no_type() -> None:
    assert codes(module_of("def @main(%n: int32) { @main(%n) }")) == ["RY013"]


def test_an_infinite_result_is_refused() -> None:
    assert codes(module_of("def @main[A](%x: A) { (%x, @main((%x, %x))) }")) == ["RY001"]


def test_an_operator_without_a_rule_is_named_once() -> None:
    x = Var("x", VECTOR)
    call = Call(Op("contrib.ethosu.identity"), (x,))
    module = by_hand(Tuple((call, Call(Op("contrib.ethosu.identity"), (call,)), Call(Op("acme.conv"), (x,)))), x)
    assert [(item.code, item.severity) for item in check(module)] == [("RY012", "note")] * 2


def test_an_operator_that_does_not_exist_is_named() -> None:
    x = Var("x", VECTOR)
    (found,) = check(by_hand(Call(Op("nn.rely"), (x,)), x))
    assert (found.code, found.hint) == ("RY011", "did you mean `nn.relu`?")


# A failing test prints its variables, and these programs have no end as text: only codes come out of the functions.
def codes_of(param: Var, wrap: Callable[[Expr], Expr], count: int) -> list[str]:
    value: Expr = param
    for _ in range(count):
        value = wrap(value)
    return codes(by_hand(value, param))


def test_a_huge_type_ends_in_a_note() -> None:
    assert codes_of(Var("x", VECTOR), lambda value: Tuple((value, value)), 200) == ["RY014"]
    assert codes_of(Var("x", VECTOR), RefCreate, 3000) == ["RY014"]


def test_a_graph_of_shared_nodes_is_typed() -> None:
    def wrap(value: Expr) -> Expr:
        return TupleGetItem(Tuple((Call(Op("multiply"), (value, value)), value)), 0)

    assert codes_of(Var("x", VECTOR), wrap, 20_000) == []


def test_deep_branches_are_typed() -> None:
    flag = Var("x", TensorType((), "bool"))
    assert codes_of(flag, lambda value: If(flag, value, flag), 20_000) == []


def type_of_last_let(count: int) -> str:
    names = [Var("x", VECTOR), *(Var(f"x{k}") for k in range(count))]
    body: Expr = names[-1]
    for before, var in zip(reversed(names[:-1]), reversed(names[1:]), strict=True):
        body = Let(var, Call(Op("add"), (before, before)), body)
    return local_types(by_hand(body, names[0]))[names[-1].name]


def test_a_long_chain_of_lets_is_typed() -> None:
    assert type_of_last_let(20_000) == "Tensor[(2, 3), float32]"


def test_a_polymorphic_parameter_takes_a_polymorphic_function_only() -> None:
    a, b = TypeVar("A"), TypeVar("B")
    f = Var("f", FuncType((a,), a, type_params=(a,)))
    main = Function((f,), Tuple((Call(f, (constant(1),)), Call(f, (constant(2.0),)))))
    y, z = Var("y", b), Var("z", TensorType((), "float32"))
    good = Call(GlobalVar("apply"), (Function((y,), y, b, type_params=(b,)),))
    bad = Call(GlobalVar("apply"), (Function((z,), z),))
    assert signatures(by_hand(good, apply=main))["main"] == "fn() -> (int32, float32)"
    assert codes(by_hand(bad, apply=main)) == ["RY001"]


def test_the_dialect_is_seen() -> None:
    x = Var("x", VECTOR)
    assert dialect_of(by_hand(x, x)) == "relay"
    assert dialect_of(IRModule((Definition(GlobalVar("f"), Function((x,), Call(Op("add"), (x, x)))),))) == "relay"
    assert dialect_of(IRModule((Definition(GlobalVar("f"), Function((x,), Call(Op("relax.add"), (x, x)))),))) == "relax"
    assert dialect_of(IRModule()) == "relax"
