"""Relay programs run in the machine after RelayToRelax, and agree with the interpreter and with NumPy."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError, RunError
from relax_core.engine.inputs import can_be_made_up, generate
from relax_core.ir.dialect import dialect_of, relay_parts
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.relay.normal_form.to_a_normal_form import to_a_normal_form
from relax_core.vm.objects.values import AdtValue
from tests.callables import Compute
from tests.golden_text import Golden
from tests.passes.relay.running import agree, both, listed, parsed, plain

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "relay"
ERRORS = SAMPLES.parent / "errors"
NUMBERS = "List[int32]"
ADD = "fn (%a: int32, %b: int32) -> int32 { %a + %b }"


def runnable() -> list[Path]:
    """Return the samples with a `main` that arguments can be made up for."""
    return [path for path in sorted(SAMPLES.glob("*.relay")) if _entry(path) is not None]


def _entry(path: Path) -> Function | None:
    module = rc.parse(path.read_text(encoding="utf-8"), path.name)
    found = module.find("main")
    function = found.function if found is not None else None
    return function if isinstance(function, Function) and can_be_made_up(function) else None


@pytest.mark.parametrize("path", runnable(), ids=lambda path: path.stem)
def test_a_sample_runs_alike_in_both_ways(path: Path) -> None:
    function = _entry(path)
    assert function is not None
    module = rc.parse(path.read_text(encoding="utf-8"), path.name)
    args = generate(function, 0, {})
    wanted, found = rc.evaluate(module, "main", *args), rc.VirtualMachine(rc.build(module))["main"](*args)
    if not callable(wanted):
        agree(found, wanted)


PRELUDE: tuple[tuple[str, str, Callable[[list[int]], Any]], ...] = (
    ("@map(fn (%x: int32) -> int32 { %x * 2 }, %xs)", NUMBERS, lambda xs: [2 * x for x in xs]),
    (f"@foldl({ADD}, 0, %xs)", "int32", sum),
    ("@foldl(subtract, 0, %xs)", "int32", lambda xs: -sum(xs)),
    ("@foldr(subtract, 0, %xs)", "int32", lambda xs: xs[0] - (xs[1] - (xs[2] - xs[3]))),
    ("@foldr1(subtract, %xs)", "int32", lambda xs: xs[0] - (xs[1] - (xs[2] - xs[3]))),
    ("@foldr(Cons, Nil, %xs)", NUMBERS, list),
    ("@filter(fn (%x: int32) -> bool { %x < 3 }, %xs)", NUMBERS, lambda xs: [x for x in xs if x < 3]),
    ("@zip(%xs, @tl(%xs))", "List[(int32, int32)]", lambda xs: list(pairwise(xs))),
    ("@rev(%xs)", NUMBERS, lambda xs: xs[::-1]),
    ("@nth(%xs, 2)", "int32", lambda xs: xs[2]),
    ("@update(%xs, 1, 9)", NUMBERS, lambda xs: [xs[0], 9, *xs[2:]]),
    ("@length(%xs)", "int32", len),
    ("@sum(%xs)", "int32", sum),
    ("@concat(%xs, %xs)", NUMBERS, lambda xs: xs + xs),
    ("@hd(%xs)", "int32", lambda xs: xs[0]),
    ("@map_accuml(fn (%a: int32, %x: int32) -> (int32, int32) { (%a + %x, %a) }, 0, %xs)", f"(int32, {NUMBERS})",
     lambda xs: (sum(xs), [sum(xs[:k]) for k in reversed(range(len(xs)))])),
    ("@map_accumr(fn (%a: int32, %x: int32) -> (int32, int32) { (%a + %x, %a) }, 0, %xs)", f"(int32, {NUMBERS})",
     lambda xs: (sum(xs), [sum(xs[k + 1 :]) for k in range(len(xs))])),
    ("@unfoldr(fn (%n: int32) -> Option[(int32, int32)] { if (%n == 0) { None } else { Some((%n, %n - 1)) } }, 3)",
     NUMBERS, lambda xs: [3, 2, 1]),
    ("@unfoldl(fn (%n: int32) -> Option[(int32, int32)] { if (%n == 0) { None } else { Some((%n - 1, %n)) } }, 3)",
     NUMBERS, lambda xs: [1, 2, 3]),
    ("@iterate(fn (%n: int32) -> int32 { %n * 2 }, 5)(@hd(%xs))", "int32", lambda xs: xs[0] * 32),
    ("@compose(@length, @tl)(%xs)", "int32", lambda xs: len(xs) - 1),
    ("@flip(subtract)(1, 10)", "int32", lambda xs: 9),
    ("@size(@tmap(fn (%x: int32) -> bool { %x < 2 }, Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Nil), Nil)))))", "int32",
     lambda xs: 3),
)  # fmt: skip


@pytest.mark.parametrize(("text", "type_", "compute"), PRELUDE, ids=[text[:40] for text, _, _ in PRELUDE])
def test_the_prelude_computes_what_python_does(text: str, type_: str, compute: Callable[[list[int]], Any]) -> None:
    xs = [4, 1, 3, 2]
    found = plain(both(f"def @main(%xs: {NUMBERS}) -> {type_} {{ {text} }}", listed(xs)))
    assert found == compute(xs)


def test_naturals_that_call_each_other_in_turn() -> None:
    text = (SAMPLES / "even_odd.relay").read_text(encoding="utf-8")
    assert plain(both(text)) == (True, False)


MAPS = {
    "double": "fn (%x: Tensor[(2, 4), float32]) -> Tensor[(2, 4), float32] { %x + %x }",
    "negative": "negative",
    "@lifted": "@lifted",
}


@pytest.mark.parametrize("count", [2, 3, 12])
def test_many_uses_of_map_with_different_functions(count: int) -> None:
    """The list program of the thread "An error from Context Analysis pass": `@map` once per function."""
    functions = [tuple(MAPS.values())[k % 3] for k in range(count)]
    lets = "".join(f"let %l{k + 1} = @map({name}, %l{k}); " for k, name in enumerate(functions))
    text = f"""
    def @lifted(%x: Tensor[(2, 4), float32]) -> Tensor[(2, 4), float32] {{ nn.relu(%x) + 1f }}
    def @main(%l0: List[Tensor[(2, 4), float32]]) -> static_tensor_float32_?_2_4_t[] {{
      {lets}
      let %arrays = @map(tensor_constructor_float32_2_4, %l{count});
      let %parts = @map(@tensor_expand_dims_float32_2_4, %arrays);
      @foldl(@tensor_concatenate_float32_?_2_4, @hd(%parts), @tl(%parts))
    }}"""
    rows = [np.random.default_rng(k).standard_normal((2, 4)).astype("float32") for k in range(3)]
    result = both(text, listed(rows, "float32"))
    wanted = np.stack(rows)
    for k in range(count):
        wanted = (wanted + wanted, -wanted, np.maximum(wanted, 0) + 1)[k % 3]
    assert result.name == "tensor_constructor_float32_?_2_4"
    agree(result.fields[0], wanted)


ARRAYS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("@tensor_get_data_float32_2_3(@tensor_array_read_float32_2_3(%d, 1))", lambda rows: rows[1]),
    ("@tensor_array_stack_float32_2_3(%d)", np.stack),
    ("@tensor_array_gather_float32_2_3(%d, %i)", lambda rows: rows[[1, 2]]),
    ("@tensor_array_concat_float32_2_3(%d)", np.concatenate),
    ("@tensor_array_unstack_float32_2_3(%x)", lambda rows: rows[0]),
    ("@tensor_array_scatter_float32_2_3(%d, %i, @tl(@rev(%d)))", lambda rows: rows[[0, 1, 0]]),
    ("@tensor_array_split_float32_2_3(@tensor_array_float32_?_3(2), tensor_constructor_float32_2_3(%x), ones_like(%i))",
     lambda rows: rows[0][:, None]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "compute"), ARRAYS, ids=[text.partition("(")[0] for text, _ in ARRAYS])
def test_arrays_of_tensors(text: str, compute: Callable[[Any], Any]) -> None:
    """The functions that TVM's `StaticTensorArrayOps` makes; their tensors have sizes that only the run knows."""
    writes = "".join(
        f"let %{'abcd'[k + 1]} = @tensor_array_write_float32_2_3(%{'abcd'[k]}, {k}, "
        f"tensor_constructor_float32_2_3(%x * {k + 1}f)); "
        for k in range(3)
    )
    x = np.arange(6, dtype="float32").reshape(2, 3)
    program = f"""def @main(%x: Tensor[(2, 3), float32], %i: Tensor[(2,), int32]) {{
      let %a = @tensor_array_float32_2_3(3); {writes} {text}
    }}"""
    result = both(program, x, np.array([1, 2], "int32"))
    items: list[Any] = []
    while isinstance(result, AdtValue) and result.name == "Cons":
        items.append(_tensor(result.fields[0]))
        result = result.fields[1]
    agree(np.stack(items) if items else _tensor(result), compute(np.stack([x, 2 * x, 3 * x])))


def _tensor(value: Any) -> Any:
    return np.asarray(value.fields[0] if isinstance(value, AdtValue) else value)


X = np.arange(6, dtype="float32").reshape(2, 3)
SIZES: dict[str, tuple[str, str, tuple[Any, ...], Compute[Any, Any]]] = {
    "arange": ("%a: int32, %b: int32", 'arange(%a, %b, 2, dtype="int32")', (1, 8), lambda a, b: [*range(a, b, 2)]),
    "zeros": ("%a: Tensor[(2,), int64]", 'dyn.zeros(%a, dtype="float32")', (np.array([2, 3]),), np.zeros),
    "full": ("%a: float32, %b: Tensor[(2,), int64]", "dyn.full(%a, %b)", (1.5, np.array([2, 3])),
             lambda a, b: np.full(b, a)),
    "a reshape": ("%a: Tensor[(2, 3), float32], %b: Tensor[(2,), int64]", "dyn.reshape(%a, %b)", (X, np.array([3, 2])),
                  np.reshape),
    "a broadcast": ("%a: Tensor[(3,), float32], %b: Tensor[(2,), int32]", "dyn.broadcast_to(%a, %b)",
                    (X[0], np.array([4, 3], "int32")), np.broadcast_to),
    "a slice": ("%a: Tensor[(2, 3), float32], %b: Tensor[(2,), int64]",
                "dyn.strided_slice(%a, %b, %b + 1i64, %b - %b + 1i64)", (X, np.array([0, 1])), lambda a, b: a[:1, 1:2]),
    "a bias": ("%a: Tensor[(?, 3), float32], %b: Tensor[(3,), float32]", "nn.bias_add(%a, %b)", (X, X[0]), np.add),
    "like another": ("%a: Tensor[(?, 3), float32], %b: Tensor[(?, ?), float32]",
                     "(broadcast_to_like(%a, %b), slice_like(%a, %b), transpose(%a), split(%a, indices_or_sections=3, "
                     "axis=1).1, ndarray_size(%a))", (X, X), lambda a, b: (a, a, a.T, a[:, 1:2], 6)),
    "flattened": ("%a: Tensor[(?, 3), float32]", "reshape(%a, newshape=[-1])", (X,), np.ravel),
    "a size kept": ("%a: Tensor[(?, 3), float32]", "reshape(%a, newshape=[0, -1, 1])", (X,), lambda a: a[..., None]),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_only_the_run_knows(name: str) -> None:
    params, text, args, compute = SIZES[name]
    agree(both(f"def @main({params}) {{ {text} }}", *args), compute(*args))


def test_functions_in_branches_tuples_data_and_references() -> None:
    text = """
    def @main(%b: bool, %x: Tensor[(2,), float32]) {
      let %square = fn (%y: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %y * %y };
      let %f = if (%b) { @id } else { @hd(Cons(%square, Nil)) };
      let %t = (%f, Some(%x));
      let %r = ref((%t, ref(%f)));
      let %inner = ref_read(%r).1;
      ref_write(%inner, fn (%y: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %y + %x });
      let %g = ref_read(ref_read(%r).1);
      (%f(%x), %t.0(%x), %g(%x), @hd(Cons(%t, Nil)).1)
    }"""
    x = np.array([2, 3], "float32")
    first, second, third, last = both(text, False, x)
    agree((first, second, third, last.fields[0]), (x * x, x * x, x + x, x))


def test_an_lstm_over_a_list_of_tensors() -> None:
    text = """
    def @cell(%state: (Tensor[(1, 3), float32], Tensor[(1, 3), float32]), %x: Tensor[(1, 2), float32],
              %w: Tensor[(12, 5), float32]) -> (Tensor[(1, 3), float32], Tensor[(1, 3), float32]) {
      %0 = nn.dense(concatenate((%x, %state.0), axis=1), %w, units=12);
      %1 = split(%0, indices_or_sections=4, axis=1);
      let %c = sigmoid(%1.1) * %state.1 + sigmoid(%1.0) * tanh(%1.2);
      (sigmoid(%1.3) * tanh(%c), %c)
    }
    def @main(%xs: List[Tensor[(1, 2), float32]], %w: Tensor[(12, 5), float32]) -> Tensor[(1, 3), float32] {
      let %start = zeros(shape=[1, 3], dtype="float32");
      let %step = fn (%s: (Tensor[(1, 3), float32], Tensor[(1, 3), float32]), %x: Tensor[(1, 2), float32])
          -> (Tensor[(1, 3), float32], Tensor[(1, 3), float32]) { @cell(%s, %x, %w) };
      @foldl(%step, (%start, %start), %xs).0
    }"""
    random = np.random.default_rng(3)
    xs = [random.standard_normal((1, 2)).astype("float32") for _ in range(4)]
    w = random.standard_normal((12, 5)).astype("float32")
    h = c = np.zeros((1, 3), "float32")
    for x in xs:
        i, f, g, o = np.split(np.concatenate([x, h], 1) @ w.T, 4, 1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    agree(both(text, listed(xs, "float32"), w), h)


def test_a_fold_over_two_thousand_elements() -> None:
    numbers = list(range(2000))
    text = f"def @main(%xs: {NUMBERS}) -> (int32, int32) {{ (@foldr({ADD}, 0, %xs), @foldl({ADD}, 0, %xs)) }}"
    assert plain(both(text, listed(numbers))) == (1999000, 1999000)


def test_references_are_written_in_order() -> None:
    text = """
    def @main() -> (int32, int32, int32) {
      let %r = ref(1);
      let %add = fn (%n: int32) -> int32 { ref_write(%r, ref_read(%r) * 10 + %n); ref_read(%r) };
      (%add(2), %add(3), ref_read(%r))
    }"""
    assert plain(both(text)) == (12, 123, 123)


def test_a_shared_node_is_computed_once_per_scope() -> None:
    text = """
    def @main(%b: bool) -> (int32, int32, int32) {
      let %r = ref(0);
      let %count = fn () -> int32 { ref_write(%r, ref_read(%r) + 1); ref_read(%r) };
      %0 = %count();
      let %f = fn () -> int32 { %1 = %count(); %1 + %1 };
      let %sum = %f() + %f();
      let %both = if (%b) { %0 + %0 } else { %0 };
      (%sum, %both, ref_read(%r))
    }"""
    assert plain(both(text, True)) == (6, 6, 3)


def test_patterns_in_patterns_are_tried_in_order() -> None:
    text = """
    def @first(%xs: List[(int32, Option[int32])]) -> int32 {
      match (%xs) {
        Cons((%a, Some(%b)), Cons((%c, None), _)) => %a + %b + %c,
        Cons((%a, None), _) => %a,
        Cons(_, Nil) => 100,
        Cons(_, %rest) => @first(%rest),
        Nil => 0,
      }
    }
    def @main() -> (int32, int32, int32, int32) {
      (@first(Cons((1, Some(2)), Cons((3, None), Nil))), @first(Cons((1, None), Nil)),
       @first(Cons((1, Some(2)), Nil)), @first(Cons((1, Some(2)), Cons((3, Some(1)), Nil))))
    }"""
    assert plain(both(text)) == (6, 1, 100, 100)


def test_a_value_that_no_clause_takes_stops_both_at_the_match() -> None:
    module = parsed("def @main(%xs: List[int32]) -> int32 {\n  match? (%xs) { Cons(%x, _) => %x }\n}")
    for run in (lambda: rc.evaluate(module, "main", listed([])),
                lambda: rc.VirtualMachine(rc.build(module))["main"](listed([]))):  # fmt: skip
        with pytest.raises(RunError) as caught:
            run()
        found = caught.value.diagnostics[0]
        assert (found.code, found.span and found.span.line) == ("VM022", 3)
        assert "Nil" in found.message


@pytest.mark.parametrize("path", sorted(ERRORS.glob("ps_*.relay")), ids=lambda path: path.stem)
def test_a_sample_that_a_pass_refuses_is_refused_at_its_marks(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    passes = next((line[11:] for line in text.splitlines() if line.startswith("// passes: ")), None)
    with pytest.raises(CompileError) as caught:
        rc.build(rc.parse(text, path.name), passes=passes)
    assert [(item.span.line if item.span else 0, item.code) for item in caught.value.diagnostics] == marks(text)
    assert all(item.hint for item in caught.value.diagnostics)


@pytest.mark.parametrize("path", sorted(ERRORS.glob("vm_*.relay")), ids=lambda path: path.stem)
def test_a_sample_that_stops_does_so_at_its_mark_in_both_ways(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = rc.parse(text, path.name)
    for run in (lambda: rc.evaluate(module, "main"), lambda: rc.VirtualMachine(rc.build(module))["main"]()):
        with pytest.raises(RunError) as caught:
            run()
        assert [(item.span.line if item.span else 0, item.code) for item in caught.value.diagnostics] == marks(text)


def marks(text: str) -> list[tuple[int, str]]:
    """Return line and code of each mark of an error sample."""
    lines = enumerate(text.splitlines(), 1)
    return [(number, code) for number, line in lines for code in re.findall(r"//! (\w{2}\d{3})", line)]


def test_a_function_of_unknown_sizes_runs_for_each() -> None:
    text = """
    def @join(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
      let %z = concatenate((%x, %y), axis=0);
      reshape(%z, newshape=[-1, 2])
    }
    def @main(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { @join(@join(%x, %x), %x) }"""
    for rows in (1, 3):
        x = np.arange(rows * 2, dtype="float32").reshape(rows, 2)
        agree(both(text, x), np.concatenate([x, x, x]))


def test_functions_that_stand_for_an_operator_stay_functions() -> None:
    text = """
    def @region(%x: Tensor[(2,), float32], Primitive=1, Compiler="dnnl", global_symbol="dnnl_0")
        -> Tensor[(2,), float32] { nn.relu(%x) }
    def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
      %0 = fn (%y: Tensor[(2,), float32], Composite="dnnl.twice") -> Tensor[(2,), float32] { %y + %y };
      @region(%0(%x))
    }"""
    agree(both(text, np.array([1, -1], "float32")), np.array([2, 0]))
    made = rc.run_pipeline(parsed(text), "RelayToRelax")[-1].after
    assert dict(made["region"].attrs)["Compiler"] == "dnnl"
    assert not made["region"].is_private
    assert first_difference(made, rc.parse(rc.script(made))) is None
    assert "Composite" in rc.script(made)


@pytest.mark.parametrize("passes", ["ToANormalForm", "RelayToRelax"])
def test_a_pass_gives_the_expected_text(passes: str, golden: Golden) -> None:
    module = rc.parse((SAMPLES / "tensor_array.relay").read_text(encoding="utf-8"), "tensor_array.relay")
    golden.check(f"passes/tensor_array__{passes}.txt", rc.script(rc.run_pipeline(module, passes)[-1].after))


def test_the_pass_says_what_became_of_operators_types_and_matches() -> None:
    text = """
    def @first[A](%xs: List[A]) -> A { match? (%xs) { Cons(%x, _) => %x } }
    def @main(%xs: List[Tensor[(2, 3), float32]], %w: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float32] {
      nn.relu(nn.dense(@first(%xs), %w, units=4))
    }"""
    said = [item.message for item in rc.run_pipeline(parsed(text), "RelayToRelax")[-1].remarks]
    assert said == [
        "@first becomes a function of Relax: 0 calls",
        "@main becomes a function of Relax: 3 calls",
        "A: erased, values of these types are objects",
        "one clause, tested in order by the tag of the value; a value that none takes stops the run",
        "what is known of the value is less than its type: checked when it runs",
        "nn.dense becomes R.permute_dims, R.matmul",
    ]


@pytest.mark.parametrize("path", runnable(), ids=lambda path: path.stem)
def test_the_text_of_the_result_is_read_as_it(path: Path) -> None:
    made = rc.run_pipeline(rc.parse(path.read_text(encoding="utf-8"), path.name), "RelayToRelax")[-1].after
    assert rc.structural_equal(rc.parse(rc.script(made)), made)


def test_nothing_of_relay_is_left() -> None:
    module = parsed(f"def @main(%xs: {NUMBERS}) -> {NUMBERS} {{ @map(fn (%x: int32) -> int32 {{ %x }}, %xs) }}")
    made = rc.run_pipeline(module, "RelayToRelax")[-1].after
    assert dialect_of(made) == "relax"
    assert list(relay_parts(made)) == []
    assert {type(part).__name__ for part in relay_parts(module)} >= {"TypeData", "Match", "Constructor"}


def test_a_relay_node_in_relax_is_ill_formed() -> None:
    relay = parsed("def @main(%x: int32) -> int32 { let %y = %x; %y }")
    assert [item.code for item in rc.check(replace(relay, attrs=(("dialect", "relax"),)))] == ["WF016"]


def test_a_normal_form_keeps_the_types_and_is_stable() -> None:
    for path in runnable():
        module = rc.parse(path.read_text(encoding="utf-8"), path.name)
        once = to_a_normal_form(module, RewriteLog())
        assert [str(item) for item in rc.check(once) if item.severity == "error"] == []
        assert to_a_normal_form(once, RewriteLog()) is once


def test_five_thousand_operators_in_a_chain_need_no_stack() -> None:
    lines = "".join(f"%{k} = add(%{k - 1 if k else 'x'}, %x);\n" for k in range(5000))
    module = parsed(f"def @main(%x: int32) -> int32 {{ {lines} %4999 }}")
    assert int(rc.evaluate(module, "main", 1)) == 5001
    made = rc.run_pipeline(module, "RelayToRelax")[-1]
    assert not made.is_failed
