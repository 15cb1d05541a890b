"""Defunctionalization: the result is first-order, and gives the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.regions import is_closed
from relax_core.check.infer import infer
from relax_core.ir.expr import Function, FuncType, TypeVar, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.passes.relay.closures.defunctionalization import is_higher_order
from tests.passes.relay.after import ONES, last, same_value
from tests.passes.relay.running import agree, listed, parsed

V = "Tensor[(3), float32]"
TREE = "type Tree[A] { Rose(A, List[Tree[A]]) }\n"
THREE, ONE = listed([1, 2, 3]), np.array(1, "int32")
# name, program, arguments
CASES: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("a function as argument",
     "def @simple[A, B](%f: fn (A) -> B, %xs: A) -> B { %f(%xs) }\n"
     f"def @main(%x: {V}) -> {V} {{ @simple(fn (%y: {V}) -> {V} {{ exp(%y) }}, %x) }}", (ONES,)),
    ("a function that captures",
     "def @simple[A, B](%f: fn (A) -> B, %xs: A) -> B { %f(%xs) }\n"
     f"def @main(%x: {V}) -> {V} {{ @simple(fn (%y: {V}) -> {V} {{ add(%y, exp(%x)) }}, %x) }}", (ONES,)),
    ("a global function", "def @main(%l: List[int32]) -> List[int32] { @map(@id, %l) }", (THREE,)),
    ("an operator", "def @main(%l: List[int32]) -> List[int32] { @map(negative, %l) }", (THREE,)),
    ("a constructor", "def @main(%l: List[int32]) -> List[Option[int32]] { @map(Some, %l) }", (THREE,)),
    ("map at two types", "def @main(%l: List[int32]) -> List[bool] "
     "{ @map(fn (%x: int32) { less(%x, 4) }, @map(fn (%x: int32) { add(%x, %x) }, %l)) }", (THREE,)),
    ("two folds", "def @main(%l: List[int32]) -> (int32, int32) "
     "{ (@foldl(add, 0, %l), @foldr(fn (%x: int32, %y: int32) { subtract(%x, %y) }, 0, %l)) }", (THREE,)),
    ("a fold that reverses", "def @main(%l: List[int32]) -> List[int32] "
     "{ @foldl(fn (%t: List[int32], %h: int32) { Cons(%h, %t) }, Nil, %l) }", (THREE,)),
    ("a recursive type",
     f"{TREE}def @total(%f: fn (int32) -> int32, %t: Tree[int32]) -> int32 {{ match (%t) {{ Rose(%v, %c) => "
     "@foldl(fn (%a: int32, %b: Tree[int32]) -> int32 { add(%a, @total(%f, %b)) }, %f(%v), %c), } }\n"
     "def @main(%n: int32) -> int32 { @total(fn (%x: int32) { add(%x, %n) }, "
     "Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Nil), Nil)))) }", (np.array(5, "int32"),)),
    ("a function that is given back",
     "def @adder(%k: int32) -> fn (int32) -> int32 { fn (%x: int32) { add(%x, %k) } }\n"
     "def @main(%n: int32) -> int32 { let %f = @adder(%n); %f(%f(1)) }", (np.array(5, "int32"),)),
    ("a composition", "def @main(%n: int32) -> int32 "
     "{ @compose(fn (%x: int32) { add(%x, %n) }, fn (%x: int32) { multiply(%x, %x) })(3) }", (np.array(5, "int32"),)),
    ("functions in a list", "def @main(%n: int32) -> List[int32] { @map(fn (%f: fn (int32) -> int32) { %f(%n) }, "
     "Cons(negative, Cons(fn (%x: int32) { add(%x, %n) }, Nil))) }", (np.array(5, "int32"),)),
    ("functions in a tuple", "def @main(%n: int32) -> int32 { let %t = (negative, @id); %t.1(%t.0(%n)) }",
     (np.array(5, "int32"),)),
    ("a choice of functions", f"def @main(%x: {V}) -> {V} "
     "{ let %f = if (less(sum(%x), 0f)) { exp } else { tanh }; %f(%x) }", (ONES,)),
    ("a recursive literal", "def @main(%n: int32) -> int32 { let %f = fn (%k: int32) -> int32 "
     "{ if (equal(%k, 0)) { %n } else { add(%k, %f(subtract(%k, 1))) } }; %f(%n) }", (np.array(5, "int32"),)),
    ("a function in a reference", "def @main(%n: int32) -> int32 { let %r = ref(fn (%x: int32) { add(%x, 1) }); "
     "let %old = ref_read(%r); let %_ = ref_write(%r, fn (%x: int32) { multiply(%old(%x), %n) }); ref_read(%r)(%n) }",
     (np.array(5, "int32"),)),
    ("a polymorphic literal", "def @main(%l: List[int32]) -> (List[int32], bool) "
     "{ let %f = fn [A](%x: A) -> A { %x }; (@map(%f, %l), %f(True)) }", (THREE,)),
    ("a polymorphic literal that calls itself", "def @main(%l: List[int32]) -> (int32, int32) "
     "{ let %n = fn [A](%x: List[A], %f: fn (A) -> int32) -> int32 { match (%x) { Nil => 0, "
     "Cons(%h, %t) => add(%f(%h), %n(%t, %f)), } }; (%n(%l, negative), %n(Cons(True, Nil), fn (%b: bool) "
     '{ cast(%b, dtype="int32") })) }', (THREE,)),
    ("a polymorphic literal that captures",
     "def @main(%n: int32) { let %f = fn [A](%x: A) -> (A, int32) { (%x, %n) }; (%f(1), %f(True)) }",
     (np.array(5, "int32"),)),
    ("polymorphic literals that capture each other", "def @main(%n: int32) { let %f = fn [A](%x: A) -> (A, int32) "
     "{ (%x, %n) }; let %g = fn [B](%y: B) -> ((B, int32), (int32, int32)) { (%f(%y), %f(add(%n, 1))) }; "
     "(%g(True), %g((1, %n)), %f(2f)) }", (np.array(5, "int32"),)),
    ("a polymorphic literal that captures a function", "def @main(%n: int32) { let %h = fn (%k: int32) { %k + %n }; "
     "let %f = fn [A](%x: A) -> (A, int32) { (%x, %h(1)) }; (%f(1), %f((True, 2))) }", (np.array(5, "int32"),)),
    ("a polymorphic literal that captures, as a value", "def @main(%l: List[int32], %n: int32) "
     "{ let %f = fn [A](%x: A) -> (A, int32) { (%x, %n) }; (@map(%f, %l), %f(True)) }", (THREE, np.array(5, "int32"))),
    ("another name of a polymorphic literal that captures", "def @main(%l: List[int32], %n: int32) "
     "{ let %f = fn [A](%x: A) -> (A, int32) { (%x, %n) }; let %g = %f; (@map(%g, %l), %g(True), %f(2f)) }",
     (THREE, np.array(5, "int32"))),
    ("a polymorphic literal without a name that captures", "def @main(%l: List[int32], %n: int32) "
     "{ @map(fn [A](%x: A) -> (A, int32) { (%x, %n) }, %l) }", (THREE, np.array(5, "int32"))),
    ("a polymorphic literal that captures and calls itself", "def @main(%l: List[int32], %n: int32) "
     "{ let %c = fn [A](%x: List[A]) -> int32 { match (%x) { Nil => %n, Cons(_, %t) => add(1, %c(%t)), } }; "
     "(%c(%l), %c(Cons(True, Nil)), @map(%c, Cons(%l, Nil))) }", (THREE, np.array(5, "int32"))),
    ("a field of a data type", "type F { F(fn (int32) -> int32, int32) }\n"
     "def @call(%f: F) -> int32 { match (%f) { F(%g, %k) => %g(%k), } }\n"
     "def @main(%n: int32) -> int32 { add(@call(F(negative, %n)), @call(F(fn (%x: int32) { add(%x, %n) }, 2))) }",
     (np.array(5, "int32"),)),
    ("a constructor with such a field as a value", "type F { F(fn (int32) -> int32) }\n"
     "def @make(%c: fn (fn (int32) -> int32) -> F) -> F { %c(negative) }\n"
     "def @main(%n: int32) -> int32 { match (@make(F)) { F(%g) => %g(%n), } }", (np.array(5, "int32"),)),
    ("a type of functions on itself", "type F { F(fn (F, int32) -> int32) }\n"
     "def @self(%f: F, %k: int32) -> int32 { match (%f) { F(%g) => %g(%f, %k), } }\n"
     "def @main(%n: int32) -> int32 { @self(F(fn (%f: F, %k: int32) -> int32 { if (equal(%k, 0)) { %n } else "
     "{ add(%k, @self(%f, subtract(%k, 1))) } }), 3) }", (np.array(5, "int32"),)),
    ("a data type with a parameter and a function", "type F[A] { F(fn (A) -> A) }\n"
     "def @main() -> int32 { match (F(negative)) { F(%f) => %f(1), } }", ()),
    ("such a type at three types, one of them known by the result", "type F[A] { F(fn (A) -> A, A), E }\n"
     "def @go[A](%f: F[A], %d: A) -> A { match (%f) { F(%g, %x) => %g(%x), E => %d, } }\n"
     "def @main(%n: int32) { (@go(F(negative, %n), 1), @go(F(fn (%b: bool) { logical_and(%b, greater(%n, 2)) }, True), "
     "False), @go(E, 3f)) }", (np.array(5, "int32"),)),
    ("a type that holds such a type, and itself", "type F[A] { F(fn (A) -> A) }\n"
     "type S[A] { Stop(A), Step(A, F[A], S[A]) }\ndef @run[A](%s: S[A]) -> A { match (%s) { Stop(%x) => %x, "
     "Step(%x, F(%f), Stop(%y)) => %f(%y), Step(_, F(%f), %r) => %f(@run(%r)), } }\n"
     "def @main(%n: int32) { @run(Step(1, F(negative), Step(2, F(fn (%x: int32) { add(%x, %n) }), Stop(3)))) }",
     (np.array(5, "int32"),)),
    ("a list of such data", "type F[A] { F(fn (A) -> A) }\ndef @main(%n: int32) -> List[int32] "
     "{ @map(fn (%f: F[int32]) { match (%f) { F(%g) => %g(%n), } }, Cons(F(negative), Cons(F(@id), Nil))) }",
     (np.array(5, "int32"),)),
    ("a function that stands for one operator", "def @main(%l: List[int32]) -> List[int32] "
     "{ @map(fn (%x: int32, Primitive=1) -> int32 { add(%x, negative(%x)) }, %l) }", (THREE,)),
)  # fmt: skip


def _is_first_order(module: IRModule) -> bool:
    types = infer(module).types
    variables = [node for item in module for node in postorder(item.function) if isinstance(node, Var)]
    functions = [item.function for item in module if isinstance(item.function, Function)]
    nodes = [node for root in functions for node in postorder(root.body)]
    literals = [node for node in nodes if isinstance(node, Function) and not is_closed(node)]
    return not literals and not any(
        isinstance(types[var], (FuncType, TypeVar)) for var in variables
    ) and not any(function.type_params for function in functions)  # fmt: skip


@pytest.mark.parametrize(("text", "args"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_functions_become_data(text: str, args: tuple[Any, ...]) -> None:
    module = parsed(text)
    assert is_higher_order(module, infer(module).types)
    after = same_value(module, "Defunctionalization", *args)
    assert _is_first_order(after)
    assert not last(after, "Defunctionalization").is_changed


def _calling_one_another(count: int, argument: str) -> str:
    """Return a program of polymorphic literals that capture, each of which calls the one before twice."""
    lets = ["let %f0 = fn [A](%a: A) -> int32 { add(%n, 1) };"]
    for at in range(1, count):
        calls = f"add(%f{at - 1}({argument}), %f{at - 1}({argument}))"
        lets.append(f"let %f{at} = fn [A](%a: A) -> int32 {{ add({calls}, %n) }};")
    return f"def @main(%n: int32) -> int32 {{ {' '.join(lets)} %f{count - 1}(%n) }}"


def test_a_local_function_is_copied_once_for_each_type_however_often_it_is_called() -> None:
    after = same_value(parsed(_calling_one_another(12, "%a")), "Defunctionalization", np.array(1, "int32"))
    assert _is_first_order(after)
    assert sum(isinstance(item.function, Function) for item in after) <= 2 * 12 + 1


def test_a_first_order_program_runs_in_the_machine() -> None:
    after = last(parsed(CASES[6][1]), "Defunctionalization").after
    found = rc.VirtualMachine(rc.build(after))["main"](THREE)
    assert [int(item) for item in found] == [6, 2]


def test_another_function_may_be_the_entry() -> None:
    module = parsed("def @first(%l: List[int32]) -> List[int32] { @map(negative, %l) }")
    after = last(module, "Defunctionalization(entry='first')").after
    assert _is_first_order(after)
    assert [int(item.fields[0]) for item in (rc.evaluate(after, "first", THREE),)] == [-1]


def test_a_first_order_program_stays() -> None:
    assert not last(parsed(f"def @main(%x: {V}) {{ exp(%x) }}"), "Defunctionalization").is_changed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def @f(%x: int32) { %x }", "no @main"),
        (
            "def @main(%t: (fn (int32) -> int32, int32)) -> int32 { let %f = %t.0; %f(%t.1) }",
            "@main takes or gives (fn(int32) -> int32, int32), a function inside of another type",
        ),
        (
            "type T[A] { Z, C(A, fn (A) -> A, T[(A, A)]) }\n"
            "def @main(%n: int32) -> int32 { match (C(%n, negative, Z)) { C(%x, %f, _) => %f(%x), Z => 0, } }",
            "the type T is used at ever larger types",
        ),
        (
            "def @main(%n: int32) { let %p = fn [A](%k: int32, %x: A) -> int32 { if (equal(%k, 0)) { %n } else "
            "{ %p(subtract(%k, 1), (%x, %x)) } }; %p(2, %n) }",
            "type variables of its own, and captures",
        ),
        (
            "def @grow[A](%n: int32, %x: A, %f: fn (int32) -> int32) -> int32 "
            "{ if (equal(%n, 0)) { %f(1) } else { @grow(subtract(%n, 1), (%x, %x), %f) } }\n"
            "def @main() -> int32 { @grow(3, 1, negative) }",
            "@main calls @grow[int32], which calls @grow[(int32, int32)], which calls @grow[((int32, int32), ",
        ),
        (
            "def @a[A](%x: A, %f: fn (int32) -> int32) -> int32 { @b((%x,), %f) }\n"
            "def @b[A](%x: A, %f: fn (int32) -> int32) -> int32 { @a((%x,), %f) }\n"
            "def @main() -> int32 { @a(3, negative) }",
            "@main calls @a[int32], which calls @b[(int32,)], which calls @a[((int32,),)], and so on, 48 functions",
        ),
        (_calling_one_another(30, "(%a, %a)"), "copies at large types"),
    ],
    ids=[
        "no entry",
        "a function in a tuple of the host",
        "a data type of ever larger types",
        "a polymorphic literal that captures, at ever larger types",
        "ever larger types",
        "ever deeper types, in turns",
        "large types of a local function",
    ],
)
def test_what_is_not_whole_is_refused(text: str, words: str) -> None:
    stage = rc.run_pipeline(parsed(text), "Defunctionalization")[-1]
    assert [item.code for item in stage.diagnostics] == ["PS014"]
    assert words in stage.diagnostics[0].message


FUNCTION = "fn (int32) -> int32"
# A program whose entry takes or gives functions, and its arguments behind a function that negates.
OPEN = {
    "given, and put into data": (
        f"def @main(%f: {FUNCTION}, %l: List[int32]) -> List[int32] "
        "{ @map(@compose(%f, fn (%x: int32) { add(%x, 1) }), @map(%f, %l)) }",
        (THREE,),
    ),
    "given twice": (f"def @main(%f: {FUNCTION}, %g: {FUNCTION}, %n: int32) -> int32 {{ %f(%g(%n)) }}", (ONE,)),
    "given back": (
        f"def @main(%f: {FUNCTION}, %n: int32) -> {FUNCTION} {{ fn (%x: int32) {{ %f(add(%x, %n)) }} }}",
        (ONE,),
    ),
    "given to itself": (
        f"def @main(%f: {FUNCTION}, %n: int32) -> {FUNCTION} "
        "{ if (less(%n, 0)) { %f } else { @main(@compose(%f, %f), subtract(%n, 6)) } }",
        (ONE,),
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_functions_of_the_host_stay_functions(name: str) -> None:
    text, args = OPEN[name]
    module = parsed(text)
    negate = rc.evaluate(parsed(f"def @main() -> {FUNCTION} {{ fn (%x: int32) {{ negative(%x) }} }}"), "main")
    given = (*((negate,) * (2 if "%g: " in text else 1)), *args)
    after = last(module, "Defunctionalization").after
    wanted, found = rc.evaluate(module, "main", *given), rc.evaluate(after, "main", *given)
    if callable(wanted):
        wanted, found = wanted(ONE), found(ONE)
    agree(found, wanted)
    inside = [item.function for item in after if item.var.name not in ("main", "apply_Function")]
    types = infer(after).types
    variables = [node for function in inside for node in postorder(function) if isinstance(node, Var)]
    assert not any(isinstance(types[var], FuncType) for var in variables)


def test_a_closed_world_has_no_functions_of_the_host() -> None:
    stage = rc.run_pipeline(parsed(OPEN["given back"][0]), "Defunctionalization(world='closed')")[-1]
    assert [item.message for item in stage.diagnostics] == [
        "@main takes or gives a function, so the program is not whole"
    ]


def test_the_sample_is_refused_at_its_mark() -> None:
    file = Path(__file__).parents[3] / "samples" / "errors" / "ps_not_whole.relay"
    text = file.read_text(encoding="utf-8")
    marked = [number for number, line in enumerate(text.splitlines(), 1) if "//! PS014" in line]
    passes = next(line[11:] for line in text.splitlines() if line.startswith("// passes: "))
    stage = rc.run_pipeline(rc.parse(text, file.name), passes)[-1]
    assert [(item.span.line if item.span else 0, item.code) for item in stage.diagnostics] == [(marked[0], "PS014")]
