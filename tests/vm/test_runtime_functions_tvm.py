"""The functions of the runtime that language models call give what those of apache-tvm give."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.apache_tvm import tvm
from tests.narrow import is_tuple
from tests.vm.runtime_calls import Argument, Step, run

pytestmark = pytest.mark.tvm

CACHE = "vm.builtin.attention_kv_cache_"
STATE = "vm.builtin.kv_state_"
LAYERS, HEADS, KV_HEADS, SIZE, PAGE = 2, 4, 2, 8, 16
THETA, SCALE, SM_SCALE = 1e4, 1.0, 0.35
Arrays = Mapping[str, "np.ndarray[Any, Any]"]
llm: Any = import_module("tvm.relax.frontend.nn.llm.kv_cache")
shape_of = tvm.runtime.ShapeTuple


def called_there(
    steps: Sequence[Step], inputs: Arrays, results: Sequence[str], **objects: Any
) -> tuple["np.ndarray[Any, Any]", ...]:
    """Make the calls in apache-tvm, and return the named results as they were behind their calls."""
    known = {name: tvm.runtime.tensor(array) for name, array in inputs.items()} | objects
    copies: dict[str, np.ndarray[Any, Any]] = {}
    for step in steps:
        outputs = [tvm.runtime.empty(shape, "float32") for shape in step.out]
        value = tvm.get_global_func(step.name)(*(_given(known, item) for item in step.args), *outputs)
        known[step.result] = outputs[0] if outputs else value
        if step.result in results:
            found = known[step.result]
            copies[step.result] = found.numpy().copy() if hasattr(found, "numpy") else np.asarray(found)
    return tuple(copies[name] if name in copies else known[name].numpy() for name in results)


def _given(known: Mapping[str, Any], item: Argument) -> Any:
    match item:
        case list():
            return shape_of(item)
        case str():
            return known[item]
        case _ if is_tuple(item):
            return [_given(known, part) for part in item]
        case _:
            return item


ROWS = {
    name: np.random.default_rng(at).standard_normal((count, 4)).astype("float32")
    for at, (name, count) in enumerate((("x", 1), ("y", 2), ("z", 3)))
}
PLAIN = {
    "appended, cut and appended": (
        Step("c", f"{CACHE}create", ("x", [2, 4], 0)),
        Step("c1", f"{CACHE}append", ("c", "y")),
        Step("c2", f"{CACHE}append", ("c1", "z")),
        Step("p", f"{CACHE}array_popn", (("c2",), 2)),
        Step("c3", f"{CACHE}append", ("c2", "x")),
    ),
    "updated": (
        Step("c", f"{CACHE}create", ("z", [4, 4], -1)),
        Step("c1", f"{CACHE}update", ("c", "z")),
        Step("c2", f"{CACHE}array_clear", (("c1",),)),
        Step("c3", f"{CACHE}append", ("c", "y")),
    ),
    "a window": (
        Step("c", f"{CACHE}create", ("y", [4, 4], 2)),
        *(
            Step(f"c{at + 1}" if at < 4 else "c3", f"{CACHE}window_override", ("c", rows, 4))
            for at, rows in enumerate("yxyyxz")
        ),
    ),
    "a window with a sink": (
        Step("c", f"{CACHE}create", ("z", [5, 4], 3)),
        *(Step("c3", f"{CACHE}window_override_with_sinks", ("c", rows, 5, 1)) for rows in "yxyyxz"),
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_cache_holds_the_same_rows(name: str) -> None:
    steps = (*PLAIN[name], Step("v", f"{CACHE}view", ("c3",)))
    assert np.array_equal(run(steps, ROWS, ["v"])[0], called_there(steps, ROWS, ["v"])[0])


def test_the_same_tokens_are_drawn() -> None:
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((1, 1, 9)).astype("float32")
    weights = np.exp(logits)
    prob = (weights / weights.sum()).astype("float32")
    rows = rng.dirichlet(np.ones(7), 20).astype("float32")
    inputs = {"l": logits, "p": prob, "r": rows, "u": rng.uniform(0, 1, (20, 1)).astype("float32")}
    steps = [Step("m", "vm.builtin.multinomial_from_uniform", ("r", "u"))]
    for at in range(40):
        temperature, top_p, sample = map(float, (rng.uniform(0, 2) * (at % 5 > 0), rng.uniform(0, 1.1), rng.uniform()))
        steps.append(Step(f"l{at}", "vm.builtin.sample_top_p_from_logits", ("l", temperature, top_p, sample)))
        steps.append(Step(f"p{at}", "vm.builtin.sample_top_p_from_prob", ("p", top_p, sample)))
    names = [step.result for step in steps]
    for ours, theirs in zip(run(steps, inputs, names), called_there(steps, inputs, names), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("apply_repetition_penalty", ("l", "ids", 1.3)),
        ("apply_presence_and_frequency_penalty", ("l", "ids", "counts", 0.3, 0.7)),
        ("apply_softmax_with_temperature", ("l", 0.7)),
        ("apply_softmax_with_temperature", ("low", 1.0)),
    ],
)
def test_logits_are_changed_in_place_alike(name: str, args: tuple[Argument, ...]) -> None:
    inputs: dict[str, np.ndarray[Any, Any]] = {
        "l": np.random.default_rng(1).standard_normal((1, 9)).astype("float32"),
        "low": np.array([[-1000, -1001]], np.float32),
        "ids": np.array([1, 3, 1], np.int32),
        "counts": np.array([2, 1, 3], np.int32),
    }
    step = Step("r", f"vm.builtin.{name}", args)
    own = {key: array.copy() for key, array in inputs.items()}
    run([step], own, ["r"])
    there = {key: tvm.runtime.tensor(array) for key, array in inputs.items()}
    tvm.get_global_func(step.name)(*(there[item] if isinstance(item, str) else item for item in args))
    for key, array in own.items():
        # The sum of the softmax is made in one pass there, which rounds otherwise.
        np.testing.assert_allclose(array, there[key].numpy(), rtol=2e-7)


@pytest.fixture(scope="module")
def kernels() -> Mapping[str, Any]:
    scaling: dict[str, Any] = {}
    made = {
        "append": llm._kv_cache_transpose_append(KV_HEADS, SIZE, "float32"),
        "ragged": llm._attention_prefill_ragged_cpu(KV_HEADS, HEADS, SIZE, SIZE, "float32", scaling),
        "prefill": llm._attention_prefill_cpu(KV_HEADS, HEADS, SIZE, "float32", False, scaling),
        "decode": llm._attention_decode_cpu(KV_HEADS, HEADS, SIZE, "float32", False, scaling),
        "tree_paged": llm.tree_attn_with_paged_kv_cache_cpu(KV_HEADS, HEADS, SIZE, "float32", scaling),
        "tree": llm.tree_attn_cpu(KV_HEADS, HEADS, SIZE, "float32", scaling),
        "merge": llm._merge_state_inplace_cpu("float32"),
        "rotary": llm.llama_rope_with_position_map(THETA, SCALE, SIZE, HEADS, KV_HEADS, "float32", scaling),
        "copy": llm._copy_single_page_cpu(KV_HEADS, PAGE, SIZE, "float32"),
        "debug": llm._kv_cache_debug_get_kv(LAYERS, KV_HEADS, SIZE, "float32"),
        "compact": llm._compact_kv_copy_cpu(KV_HEADS, SIZE, "float32"),
    }
    built = tvm.compile(
        tvm.IRModule({name: item.with_attr("global_symbol", name) for name, item in made.items()}), target="llvm"
    )
    library = built.jit()
    return {name: library[name] for name in made}


def cache_there(own: Mapping[str, Any], mode: int) -> Any:
    def attention(name: str) -> list[Any]:
        return ["tirx", own[name]]

    return tvm.get_global_func("vm.builtin.paged_attention_kv_cache_create")(
        shape_of([4, 64, 32, PAGE, 0]), shape_of([0, LAYERS]), HEADS, KV_HEADS, SIZE, SIZE,
        shape_of([0] * LAYERS), False, mode, SCALE, THETA, None, tvm.runtime.empty((), "float32"), own["append"], None,
        attention("ragged"), attention("prefill"), attention("decode"), [], [], attention("tree_paged"),
        attention("tree"), [], [own["merge"], own["merge"]], own["rotary"], own["copy"], own["debug"], own["compact"],
    )  # fmt: skip


class Session:
    """The calls of a scenario on the cache `s`, and what is to be compared of them."""

    def __init__(self, mode: int) -> None:
        sizes: tuple[Argument, ...] = ([4, 64, 32, PAGE, 0], [0, LAYERS], HEADS, KV_HEADS, SIZE, SIZE, [0] * LAYERS)
        self.create = Step(
            "s", "vm.builtin.paged_attention_kv_cache_create", (*sizes, False, mode, SCALE, THETA, 0, "init")
        )
        self.steps: list[Step] = []
        self.inputs: dict[str, np.ndarray[Any, Any]] = {"init": np.zeros((), "float32")}
        self.kept: list[str] = []
        self._rng = np.random.default_rng(mode)

    def call(self, name: str, *args: Argument, out: tuple[tuple[int, ...], ...] = (), keeps: bool = False) -> str:
        result = f"r{len(self.steps)}"
        self.steps.append(Step(result, name, ("s", *args), out))
        self.kept += [result] if keeps else []
        return result

    def rows(self, *shape: int) -> str:
        name = f"i{len(self.inputs)}"
        self.inputs[name] = self._rng.standard_normal(shape).astype("float32")
        return name

    def forward(self, ids: list[int], lengths: list[int], tree: list[int] | None = None) -> None:
        self.call(f"{STATE}begin_forward", ids, lengths, *([] if tree is None else [tree]))
        self.call(f"{CACHE}get_query_positions", keeps=True)
        count = sum(lengths)
        for layer in range(LAYERS):
            qkv = self.rows(count, HEADS + 2 * KV_HEADS, SIZE)
            out = ((count, HEADS, SIZE),)
            self.call(f"{CACHE}attention_with_fused_qkv", layer, SM_SCALE, qkv, out=out, keeps=True)
        self.call(f"{STATE}end_forward")

    def compare(self, own: Mapping[str, Any], mode: int) -> None:
        ours = run([self.create, *self.steps], self.inputs, self.kept)
        theirs = called_there(self.steps, self.inputs, self.kept, s=cache_there(own, mode))
        for name, left, right in zip(self.kept, ours, theirs, strict=True):
            # The kernels sum in float32 and in another order.
            np.testing.assert_allclose(left, right, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["no rotation", "rotation before", "rotation in attention"])
def test_a_paged_cache_attends_alike(mode: int, kernels: Mapping[str, Any]) -> None:
    made = Session(mode)
    for number in (0, 1):
        made.call(f"{STATE}add_sequence", number)
    made.forward([0, 1], [5, 3])
    made.forward([1], [20])
    made.forward([0, 1], [1, 1])
    made.call(f"{CACHE}get_total_sequence_length", keeps=True)
    made.call(f"{CACHE}get_num_available_pages", keeps=True)
    made.call(f"{STATE}fork_sequence", 1, 2, 17)
    made.call(f"{STATE}fork_sequence", 0, 3, -1)
    made.forward([2, 0, 3], [1, 1, 1])
    made.forward([3, 1], [4, 1])
    made.call(f"{STATE}popn", 1, 7)
    made.forward([1, 2], [2, 3])
    made.call(f"{STATE}remove_sequence", 0)
    made.forward([3, 1], [1, 1])
    shape = (LAYERS, 17, KV_HEADS, SIZE)
    made.call(f"{CACHE}debug_get_kv", 1, 2, 19, out=(shape, shape))
    made.compare(kernels, mode)


def test_trees_of_tokens_are_seen_and_accepted_alike(kernels: Mapping[str, Any]) -> None:
    made = Session(1)
    for number in (1, 3):
        made.call(f"{STATE}add_sequence", number)
    made.forward([1, 3], [7, 4])
    # Not a chain in the last sequence: apache-tvm 0.27 then moves the rows of no sequence.
    made.forward([1, 3], [5, 3], [-1, 0, 0, 1, 2, -1, 0, 0])
    made.call(f"{CACHE}commit_accepted_token_tree_nodes", [1, 3], [3, -1])
    made.forward([1, 3], [1, 1])
    made.call(f"{CACHE}get_sequence_length", 1, keeps=True)
    made.forward([1], [4], [-1, 0, 0, 2])
    made.call(f"{CACHE}commit_accepted_token_tree_nodes", [1], [3])
    made.forward([1, 3], [2, 2])
    made.compare(kernels, 1)


def test_attention_in_parts_is_merged_alike(kernels: Mapping[str, Any]) -> None:
    made = Session(0)
    made.call(f"{STATE}add_sequence", 0)
    made.forward([0], [6])
    made.call(f"{STATE}begin_forward", [0], [3])
    q, k, v = made.rows(3, HEADS, SIZE), made.rows(3, KV_HEADS, SIZE), made.rows(3, KV_HEADS, SIZE)
    own, before = (made.rows(3, HEADS, SIZE), made.rows(3, HEADS)), (made.rows(3, HEADS, SIZE), made.rows(3, HEADS))
    made.call(f"{CACHE}self_attention", 0, SM_SCALE, q, k, v, *own)
    made.call(f"{CACHE}cross_attention", 0, SM_SCALE, q, *before)
    made.call(f"{CACHE}merge_attn_output_inplace", *own, *before)
    made.call(f"{CACHE}attention_with_shared_kv", 0, SM_SCALE, q, k, v, out=((3, HEADS, SIZE),), keeps=True)
    made.kept += [*own, *before]
    made.compare(kernels, 0)
