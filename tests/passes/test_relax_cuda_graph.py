"""RewriteCUDAGraph captures the same regions as apache-tvm, and what a module computes stays."""

from collections.abc import Iterable

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.passes.core import Stage
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, passed, remarks, same_values

GIVEN = "RewriteCUDAGraph(use_cuda_graph=True)"
TYPE = 'R.Tensor((2, 4), "float32")'
INPUTS = f"x: {TYPE}, w: {TYPE}"
KERNELS = "".join(
    f"""
    @T.prim_func(private=True, s_tir=True)
    def {name}({params}):
        for i, j in T.grid(2, 4):
            with T.sblock("block"):
                vi, vj = T.axis.remap("SS", [i, j])
                {body}
"""
    for name, params, body in (
        ("exp", 'A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "float32")', "B[vi, vj] = T.exp(A[vi, vj])"),
        (
            "add",
            ", ".join(f'{buffer}: T.Buffer((2, 4), "float32")' for buffer in "ABC"),
            "C[vi, vj] = A[vi, vj] + B[vi, vj]",
        ),
    )
)
RESULT = 'R.builtin.alloc_tensor(R.shape([2, 4]), R.dtype("float32"), R.prim_value(0), R.str("global"))'


def storage(size: int, scope: str = "global") -> str:
    """Return the allocation of a storage of so many bytes."""
    place = f'R.prim_value(0), R.str("{scope}"), R.dtype("float32")'
    return f"R.memory.alloc_storage(R.shape([{size}]), {place})"


def tensor(name: str, dims: str = "2, 4") -> str:
    """Return the allocation of a tensor in a storage."""
    return f'R.memory.alloc_tensor({name}, R.prim_value(0), R.shape([{dims}]), R.dtype("float32"))'


def function(body: Iterable[str], result: str, params: str = INPUTS, attrs: str = "", name: str = "main") -> str:
    """Return a function of which the parameters behind the first are weights."""
    lines = "".join(f"        {line}\n" for line in body)
    return f"""
    @R.function
    def {name}({params}):
        R.func_attr({{"num_input": 1, "relax.force_pure": True{attrs}}})
        cls = Module
{lines}        return {result}
"""


def chain(*storages: str, between: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return launches from weight to result, the last of which takes the input; each has a storage of its own."""
    lines: list[str] = []
    last = "w"
    for number, text in enumerate(storages):
        lines += [f"s{number} = {text}", f"t{number} = {tensor(f's{number}')}", f"cls.exp({last}, t{number})"]
        lines += between if not number else ()
        last = f"t{number}"
    return (*lines, f"r = {RESULT}", f"cls.add({last}, x, r)")


KILLS = ("R.memory.kill_tensor(t1)", "R.memory.kill_storage(s0)")
PROGRAMS = {
    "launches one behind the other": function(chain(storage(32), storage(32)), "r"),
    "the largest storage first": function(chain(storage(32), storage(64), storage(48)), "r"),
    "two regions": function(chain(storage(32), storage(32), between=("cls.add(t0, x, t0)",)), "r"),
    "other names of a tensor": function(
        chain(storage(32), storage(32), between=("a = t0", "t = (a, w)", "u = t[1]")), "r"
    ),
    "an allocation of its own between": function(chain(storage(32), storage(32), between=(f"q = {RESULT}",)), "r"),
    "a cast between": function(chain(storage(32), storage(32), between=(f"q = R.match_cast(t0, {TYPE})",)), "r"),
    "several results": function(
        (*chain(storage(32), storage(32), storage(32)), "cls.add(t1, r, r)", "cls.add(t0, r, r)"), "r"
    ),
    "functions that share storages": function(chain(storage(64), storage(16)), "r", name="first")
    + function(chain(storage(32)), "r"),
    "kills": function(
        (
            *chain(storage(32), storage(32))[:-2],
            "R.memory.kill_tensor(t0)",
            f"r = {RESULT}",
            "cls.add(t1, x, r)",
            *KILLS,
        ),
        "r",
    ),
    "a result in a tuple": function(chain(storage(32), storage(32)), "(t0, r)"),
    "no weights": function(chain(storage(32), storage(32)), "r").replace('"num_input": 1, ', ""),
    "nothing to capture": function((f"r = {RESULT}", "cls.exp(x, r)"), "r"),
}
SYMBOLIC = 'x: R.Tensor(("n", 4), "float32"), w: R.Tensor((2, 4), "float32")'


def agrees(text: str) -> Stage:
    """Capture graphs here and in apache-tvm, check that they are the same, and return our stage."""
    module = in_tvm(text, is_checked=False)
    stage = passed(rc.parse(module.script()), GIVEN)
    with tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": True}):
        theirs = rc.parse(relax.transform.RewriteCUDAGraph()(module).script())
    assert first_difference(rc.parse(in_words_of_tvm(rc.script(stage.after))), theirs) is None
    return stage


def in_words_of_tvm(text: str) -> str:
    """Return a text as apache-tvm prints it: it leaves out the variables of empty tuples."""
    return text.replace("gv = R.tuple()\n        return gv", "_ = R.tuple()\n        return R.tuple()")


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_are_those_of_tvm(name: str) -> None:
    agrees(KERNELS + PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_stay_and_it_is_idempotent(name: str) -> None:
    stage = passed(parse(KERNELS + PROGRAMS[name]), GIVEN)
    lowering = "KillAfterLastUse, LowerAllocTensor, LowerRuntimeBuiltin, VMShapeLower, AttachGlobalSymbol"
    before, after = (rc.run_pipeline(item, lowering)[-1].after for item in (stage.before, stage.after))
    same_values(before, after)
    assert not rc.run_pipeline(stage.after, GIVEN)[-1].is_changed


@pytest.mark.tvm
def test_a_graph_is_captured_for_each_value_of_a_dimension() -> None:
    kernel = (
        KERNELS.replace('T.Buffer((2, 4), "float32")', "T.handle").split("        for")[0] + "        T.evaluate(0)\n"
    )
    body = (f"s = {storage(64)}", f"a = {tensor('s', 'n, 4')}", "cls.exp(w, a)", f"r = {RESULT}", "cls.exp(a, r)")
    captured = ', "relax.rewrite_cuda_graph.capture_symbolic_vars": ["n"]'
    text = kernel + function(("n = T.int64()", *body), "r", SYMBOLIC, captured)
    assert rc.script(agrees(text).after).count("R.shape([n])") == 2
    words = remarks(passed(parse(text.replace(captured, "")), GIVEN), "missed")
    assert words[0] == "exp is in no graph: a may be elsewhere in the next run"


def test_a_region_ends_at_a_conditional() -> None:
    body = (
        f"s = {storage(32)}",
        f"a = {tensor('s')}",
        "cls.exp(w, a)",
        "if p:",
        f"    b = {RESULT}",
        "    cls.add(a, x, b)",
        "    r = b",
        "else:",
        "    r = x",
        "cls.exp(w, a)",
        f"q = {RESULT}",
        "cls.add(a, r, q)",
    )
    stage = passed(parse(KERNELS + function(body, "q", f'{INPUTS}, p: R.Tensor((), "bool")')), GIVEN)
    assert rc.script(stage.after).count("run_or_capture") == 2


def test_a_result_deeper_in_a_tuple_keeps_its_memory() -> None:
    stage = passed(parse(KERNELS + function(chain(storage(32), storage(32)), "(r, (t1, x))")), GIVEN)
    allocation = rc.script(stage.after).split("def cuda_graph_alloc")[1].split("return")[0]
    assert allocation.count("alloc_storage") == 1
    assert "exp is in no graph: t1 may be elsewhere in the next run" in remarks(stage, "missed")


def test_nothing_is_captured_unless_it_is_asked_for() -> None:
    (stage,) = rc.run_pipeline(parse(KERNELS + PROGRAMS["two regions"]), "RewriteCUDAGraph")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["nothing is captured as a CUDA graph: use_cuda_graph is not set"]
