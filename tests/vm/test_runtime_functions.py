"""Caches and states of language models: what they compute, how their past is kept, what is refused."""

from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.build import build
from relax_core.diagnostics import RunError
from relax_core.engine.debug.outcomes import Outcome, judge, outcome_of
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE
from relax_core.frontend.parse import parse_text
from relax_core.ops.packed import runtime_functions
from relax_core.present.running.values import Values
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Snapshot, StateValue
from relax_core.vm.recording.trace import Trace
from relax_core.vm.runtime_library.attention import attended, merged, rotated, seen
from relax_core.vm.runtime_library.table import FUNCTIONS, STATEFUL
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.runtime_calls import Argument, Step, module_of, run, text_of

CACHE = "vm.builtin.attention_kv_cache_"
STATE = "vm.builtin.kv_state_"
X, Y = np.full((1, 4), 1, np.float32), np.full((2, 4), 2, np.float32)
GROWN = (
    Step("c", f"{CACHE}create", ("x", [2, 4], 0)),
    Step("c1", f"{CACHE}append", ("c", "y")),
    Step("c2", f"{CACHE}append", ("c1", "x")),
)
SIZES: tuple[Argument, ...] = ([2, 64, 32, 16, 0], [0, 1], 2, 1, 4, 4, [0])
PAGED = (
    Step("s", "vm.builtin.paged_attention_kv_cache_create", (*SIZES, False, 1, 1.0, 1e4, 0, "zero")),
    Step("a", f"{STATE}add_sequence", ("s", 7)),
    Step("b", f"{STATE}begin_forward", ("s", [7], [3])),
    Step("o", f"{CACHE}attention_with_fused_qkv", ("s", 0, 0.5, "qkv"), ((3, 2, 4),)),
)
QKV = {"zero": np.zeros((), np.float32), "qkv": np.random.default_rng(0).standard_normal((3, 4, 4)).astype(np.float32)}


def recorded(steps: tuple[Step, ...], inputs: dict[str, Any], results: tuple[str, ...]) -> Trace:
    return Machine(build(module_of(steps, inputs, results))).run("main", tuple(inputs.values()))


def failure(steps: tuple[Step, ...], inputs: dict[str, Any]) -> Any:
    with pytest.raises(RunError) as raised:
        run(steps, inputs, [steps[-1].result])
    return raised.value.diagnostics[0]


def test_every_declared_function_has_a_meaning() -> None:
    assert {spec.name for spec in runtime_functions.SPECS} == {*FUNCTIONS, *STATEFUL}


def test_a_view_is_the_memory_of_the_cache() -> None:
    steps = (*GROWN, Step("v", f"{CACHE}view", ("c2", [3, 4])), Step("u", f"{CACHE}update", ("c2", "z")))
    z = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(run(steps, {"x": X, "y": Y, "z": z}, ["v"])[0], z)


def test_stepping_back_shows_what_a_cache_held() -> None:
    trace = recorded(GROWN, {"x": X, "y": Y}, ("c2",))
    assert trace.error is None
    state = trace.result[0] if isinstance(trace.result, tuple) else None
    assert isinstance(state, StateValue)
    lengths: list[int] = []
    for at in range(len(trace) + 1):
        past = trace.as_it_was(state, at)
        assert isinstance(past, StateValue)
        lengths.append(past.snapshot["length"])
    assert list(dict.fromkeys(lengths)) == [0, 2, 3]


def test_a_cache_is_shown_with_its_fields() -> None:
    trace = recorded(PAGED, QKV, ("s",))
    values = Values(trace, lambda _: 0)
    state = trace.result[0] if isinstance(trace.result, tuple) else None
    shown = values.table[values.index(state, len(trace))]
    assert (shown.type, shown.short) == ("paged KV cache", "1 layer, 1 sequence, 3 rows")
    assert [field.name for field in shown.fields] == ["configuration", "batch", "sequences"]
    sequences = values.table[shown.fields[2].value]
    assert [(field.name, values.table[field.value].short) for field in sequences.fields] == [("7", "3 rows")]
    before = values.table[values.index(state, 1)]
    assert before.short == "1 layer, 0 sequences, 0 rows"


def outcome_with(change: float, *, is_paged: bool) -> Outcome:
    if is_paged:
        # An output that is not used would be left out with its call.
        trace = recorded(PAGED, {**QKV, "qkv": QKV["qkv"] + np.float32(change)}, ("s", "o"))
        assert isinstance(trace.result, tuple)
        assert isinstance(trace.result[0], StateValue)
        trace.result = trace.result[:1]
    else:
        trace = recorded(GROWN, {"x": X + np.float32(change), "y": Y}, ("c2",))
    return outcome_of(trace, "main", (), ())


@pytest.mark.parametrize("is_paged", [True, False], ids=["paged", "plain"])
def test_results_that_are_caches_are_compared_by_what_they_hold(*, is_paged: bool) -> None:
    one, same, other = (outcome_with(change, is_paged=is_paged) for change in (0, 0, 1))
    assert judge(one, same, DEFAULT_TOLERANCE).verdict == "same"
    assert judge(one, other, DEFAULT_TOLERANCE).verdict == "different"


def test_a_cache_goes_from_one_run_into_the_next() -> None:
    text = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def make(x: R.Tensor((1, 4), "float32")) -> R.Object:
        c: R.Object = R.call_packed(
            "vm.builtin.attention_kv_cache_create", x, R.shape([2, 4]), 0, sinfo_args=(R.Object,)
        )
        return c

    @R.function(pure=False)
    def step(c: R.Object, x: R.Tensor((1, 4), "float32")) -> R.Tensor(dtype="float32", ndim=2):
        d: R.Object = R.call_packed("vm.builtin.attention_kv_cache_append", c, x, sinfo_args=(R.Object,))
        v: R.Tensor(dtype="float32", ndim=2) = R.call_packed(
            "vm.builtin.attention_kv_cache_view", d, sinfo_args=(R.Tensor(dtype="float32", ndim=2),)
        )
        return v
"""
    executable = build(parse_text(text, "m.py").modules[0])
    machine = VirtualMachine(executable)
    cache = machine["make"](X)
    assert [len(machine["step"](cache, X)) for _ in range(3)] == [1, 2, 3]
    # A recorded run works on a copy, so that the host cannot change its past.
    trace = Machine(executable).run("step", (cache, X))
    assert isinstance(trace.result, np.ndarray)
    assert len(trace.result) == 4
    assert cache.snapshot["length"] == 3


def test_the_rotary_kernel_of_the_program_is_called() -> None:
    kernel = """
    @T.prim_func
    def split(a: T.handle, p: T.handle, b: T.handle, c: T.handle, d: T.handle, rotates: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n, 4, 4))
        P = T.match_buffer(p, (n,), "int32")
        Q = T.match_buffer(b, (n, 2, 4))
        K = T.match_buffer(c, (n, 1, 4))
        V = T.match_buffer(d, (n, 1, 4))
        for i, h, j in T.grid(n, 4, 4):
            with T.block("split"):
                vi, vh, vj = T.axis.remap("SSS", [i, h, j])
                if vh < 2:
                    Q[vi, vh, vj] = T.float32(0)
                elif vh < 3:
                    K[vi, 0, vj] = A[vi, vh, vj]
                else:
                    V[vi, 0, vj] = A[vi, vh, vj]
"""
    none: tuple[Argument, ...] = (0,) * 11
    create = Step(
        "s",
        "vm.builtin.paged_attention_kv_cache_create",
        (*SIZES, False, 1, 1.0, 1e4, 0, "zero", *none, "cls.split", 0, 0, 0),
    )
    text = text_of((create, *PAGED[1:]), QKV, ["o"]).replace("\n    @R.function", f"{kernel}\n    @R.function")
    text = text.replace("from tvm.script import relax as R", "from tvm.script import relax as R, tir as T")
    text = text.replace("        s = ", "        cls = Module\n        s = ")
    found = VirtualMachine(build(parse_text(text, "m.py").modules[0]))["main"](*QKV.values())[0]
    v = QKV["qkv"][:, 3]
    # Queries of zeros see all rows alike: the mean of the values so far.
    means = np.cumsum(v, axis=0) / np.arange(1, 4)[:, None]
    np.testing.assert_allclose(found, np.repeat(means[:, None], 2, axis=1), rtol=1e-6)


def test_a_recurrent_state_goes_back() -> None:
    one, two = np.full((1, 2), 1, np.float32), np.full((1, 2), 2, np.float32)
    steps = (
        Step("s", "vm.builtin.rnn_state_create", (1, 2, 3, (), (), ("init",))),
        Step("a", f"{STATE}add_sequence", ("s", 0)),
        *(
            item
            for at, data in enumerate(("one", "two"))
            for item in (
                Step(f"b{at}", f"{STATE}begin_forward", ("s", [0], [1])),
                Step(f"s{at}", "vm.builtin.rnn_state_set", ("s", 0, 0, data)),
                Step(f"e{at}", f"{STATE}end_forward", ("s",)),
            )
        ),
        Step("g", "vm.builtin.rnn_state_debug_get", ("s", 0, 0, 0)),
        Step("p", f"{STATE}popn", ("s", 0, 1)),
        Step("b9", f"{STATE}begin_forward", ("s", [0], [1])),
        Step("o", "vm.builtin.rnn_state_get", ("s", 0, 0), ((1, 2),)),
    )
    inputs = {"init": np.zeros(2, np.float32), "one": one, "two": two}
    latest, before = run(steps, inputs, ["g", "o"])
    assert np.array_equal(latest, two[0])
    assert np.array_equal(before, one)


@pytest.mark.parametrize(
    ("steps", "code", "words"),
    [
        ((*GROWN, Step("v", f"{CACHE}view", ("c2", [4, 4]))), "VM041", "shape is that of the filled rows, (3, 4)"),
        ((*GROWN, Step("v", f"{CACHE}update", ("c2", "x"))), "VM041", "as many rows as the cache, 3"),
        ((*GROWN, Step("v", f"{CACHE}array_popn", (("c2",), 4))), "VM041", "n is from 0 to 3"),
        ((Step("v", f"{CACHE}append", ("x", "y")),), "VM041", "cache is a KV cache, got tensor (1, 4)"),
        ((*GROWN, Step("v", f"{STATE}clear", ("c2",))), "VM041", "state is a RNN state, got KV cache"),
        ((Step("c", f"{CACHE}create", ("x", [0, 4], 0)),), "VM041", "the first at least 1"),
    ],
)
def test_a_wrong_use_of_a_plain_cache_is_located(steps: tuple[Step, ...], code: str, words: str) -> None:
    found = failure(steps, {"x": X, "y": Y})
    assert (found.code, found.span is not None) == (code, True)
    assert words in found.message


@pytest.mark.parametrize(
    ("steps", "code", "words"),
    [
        ((*PAGED, Step("v", f"{STATE}add_sequence", ("s", 7))), "VM041", "sequence 7 is already there"),
        ((*PAGED, Step("v", f"{STATE}popn", ("s", 8, 1))), "VM041", "there is no sequence 8; there are 7"),
        ((*PAGED, Step("v", f"{STATE}fork_sequence", ("s", 7, 8, 4))), "VM041", "fork_pos is from -1 to 3"),
        ((*PAGED[:2], PAGED[3]), "VM041", "no batch is open"),
        ((*PAGED[:3], Step("o", f"{CACHE}attention_with_fused_qkv", ("s", 1, 0.5, "qkv"), ((3, 2, 4),))), "VM041",
         "layer_id is from 0 to 0"),
        ((*PAGED, Step("v", f"{STATE}begin_forward", ("s", [7], [33]))), "VM041", "at most 32 tokens"),
        ((*PAGED, Step("v", f"{CACHE}enable_sliding_window_for_seq", ("s", 7, 8, 0))), "VM057", "is not simulated"),
        ((*PAGED, Step("v", f"{CACHE}export_page_group", ("s", 7))), "VM001", "export_page_group"),
    ],
)  # fmt: skip
def test_a_wrong_use_of_a_paged_cache_is_located(steps: tuple[Step, ...], code: str, words: str) -> None:
    found = failure(steps, QKV)
    assert (found.code, found.span is not None) == (code, True)
    assert words in found.message


def test_attention_over_parts_is_that_over_all() -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 4, 8)), rng.standard_normal((5, 2, 8)), rng.standard_normal((5, 2, 6))
    whole = attended(q, k, v, None, 0.5)
    parts = attended(q, k[:2], v[:2], None, 0.5), attended(q, k[2:], v[2:], None, 0.5)
    for ours, wanted in zip(merged(parts), whole, strict=True):
        np.testing.assert_allclose(ours, wanted)
    nothing = attended(q, k[:0], v[:0], None, 0.5)
    np.testing.assert_allclose(merged((whole, nothing))[0], whole[0])


def test_rotation_keeps_lengths_and_depends_on_distance() -> None:
    rows = np.random.default_rng(0).standard_normal((1, 1, 8))
    turned = [rotated(rows, np.array([at]), 1e4, 1.0)[0, 0] for at in (0, 3, 5)]
    np.testing.assert_allclose(turned[0], rows[0, 0])
    np.testing.assert_allclose(np.linalg.norm(turned[2]), np.linalg.norm(rows))
    later = [rotated(rows, np.array([at + 4]), 1e4, 1.0)[0, 0] for at in (3, 5)]
    np.testing.assert_allclose(turned[1] @ turned[2], later[0] @ later[1])


def test_a_node_of_a_tree_sees_its_ancestors() -> None:
    assert seen(1, (-1, 0, 0, 1)).astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [1, 1, 1, 0, 1],
    ]


def test_a_snapshot_has_its_fields_by_name() -> None:
    held = Snapshot("pair", ("a", "b"), (1, 2))
    assert (held["b"], held.with_field("a", 3)["a"], held.with_field("c", 4).names) == (2, 3, ("a", "b", "c"))
    assert held.without("a").names == ("b",)
