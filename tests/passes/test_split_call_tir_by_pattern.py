"""SplitCallTIRByPattern: the calls of apache-tvm, the same values, and what stays with its reason."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import PassContext
from relax_core.passes.external import is_external
from relax_core.passes.relax.byoc.nest_matches import NestMatch
from relax_core.passes.relax.byoc.split_call_tir_by_pattern import SplitCallTIRByPatternOptions, run
from tests.apache_tvm import relax, tirx
from tests.passes.wheel import in_tvm, passed, remarks, same_values

TENSOR: Final = 'R.Tensor((4, 4), dtype="float32")'
BUFFER: Final = 'T.Buffer((4, 4), "float32")'


def nest(target: str, value: str, order: str = "i, j", init: str = "") -> str:
    """Return the text of a nest that computes `target` from each of the elements of other buffers."""
    begin = f"            with T.init():\n                {target}[vi, vj] = {init}\n" if init else ""
    return (
        f"    for {order} in T.grid(4, 4):\n        with T.sblock('{target}'):\n"
        f"            vi, vj = T.axis.remap('SS', [i, j])\n{begin}            {target}[vi, vj] = {value}\n"
    )


def prim_func(name: str, params: str, body: str, inner: str = "", *, is_private: bool = True) -> str:
    """Return the text of a prim func with the buffers `inner` of its own."""
    typed = ", ".join(f"{item}: {BUFFER}" for item in params.split())
    made = "".join(f"    {item} = T.sblock_alloc_buffer((4, 4), 'float32')\n" for item in inner.split())
    head = f"@T.prim_func({'private=True, ' if is_private else ''}s_tir=True)\ndef {name}({typed}):\n"
    return "".join(f"    {line}\n" for line in f"{head}{made}{body}".splitlines())


def main(params: str, *calls: str) -> str:
    """Return the text of a function that calls prim funcs, each with what the calls before gave."""
    typed = ", ".join(f"{item}: {TENSOR}" for item in params.split())
    lines = [f"v{k} = R.call_tir(cls.{name}, ({given},), out_ty={TENSOR})" for k, (name, given) in
             enumerate(item.split(": ") for item in calls)]  # fmt: skip
    body = "".join(f"            {line}\n" for line in lines)
    last = f"v{len(calls) - 1}"
    return (
        f"    @R.function\n    def main({typed}):\n        cls = Module\n        with R.dataflow():\n{body}"
        f"            R.output({last})\n        return {last}\n"
    )


EXP: Final = prim_func("exp", "A B", nest("B", "T.exp(A[vi, vj])"))
SUM: Final = prim_func("sum", "A B C", nest("C", "A[vi, vj] + B[vi, vj]"))
SCALE: Final = (
    EXP.replace("exp", "scale").replace("):", ", s: T.float32):", 1).replace("T.scale(A[vi, vj])", "A[vi, vj] * s")
)
PATTERNS: Final = ("exp", "sum", "scale")

PROGRAMS: Final = {
    "what is left reads what the kernel gives": prim_func(
        "f", "A B", nest("C", "T.exp(A[vi, vj])") + nest("B", "T.sin(C[vi, vj])"), "C"
    )
    + main("x", "f: x"),
    "what is left reads inputs as well, in the order of the parameters": prim_func(
        "f", "A X Y B", nest("C", "T.exp(Y[vi, vj])") + nest("B", "X[vi, vj] * C[vi, vj] + A[vi, vj]"), "C"
    )
    + main("x y z", "f: x, y, z"),
    "a kernel takes its inputs in the order of the pattern": prim_func(
        "f", "A X B", nest("C", "X[vi, vj] + A[vi, vj]") + nest("B", "T.sin(C[vi, vj])"), "C"
    )
    + main("x y", "f: x, y"),
    "two nests in a row make one kernel": prim_func(
        "f", "A B", nest("C", "T.exp(A[vi, vj])") + nest("D", "T.exp(C[vi, vj])") + nest("B", "T.sin(D[vi, vj])"), "C D"
    )
    + main("x", "f: x"),
    "nothing is left": prim_func("f", "A X B", nest("C", "A[vi, vj] + X[vi, vj]") + nest("B", "T.exp(C[vi, vj])"), "C")
    + main("x y", "f: x, y", "f: v0, x"),
    "what is left of two prim funcs is one": "".join(
        prim_func(name, "A B", nest("C", "T.exp(A[vi, vj])") + nest("B", "T.sin(C[vi, vj])"), "C") for name in "fg"
    )
    + main("x", "f: x", "g: v0"),
    "a scalar of the pattern stands for a number": prim_func(
        "f", "A B", nest("C", "A[vi, vj] * T.float32(2)") + nest("B", "T.sin(C[vi, vj])"), "C"
    )
    + main("x", "f: x"),
    "the first nest is not known": prim_func(
        "f", "A B", nest("C", "T.sin(A[vi, vj])") + nest("B", "T.exp(C[vi, vj])"), "C"
    )
    + main("x", "f: x"),
    "the loops are in another order": prim_func("f", "A B", nest("B", "T.exp(A[vi, vj])", "j, i")) + main("x", "f: x"),
    "an input is transposed": prim_func("f", "A B", nest("B", "T.exp(A[vj, vi])")) + main("x", "f: x"),
    "one buffer stands for two": prim_func("f", "A B", nest("B", "A[vi, vj] + A[vi, vj]")) + main("x", "f: x"),
    "there is an init": prim_func("f", "A B", nest("B", "T.exp(A[vi, vj])", init="T.float32(0)")) + main("x", "f: x"),
}


def their_patterns() -> list[Any]:
    module = in_tvm(EXP + SUM + SCALE)
    return [module[name] for name in PATTERNS]


def their_codegen(matches: Any) -> list[Any]:
    """Take all nests, and what the first of each buffer is not written by one before."""
    written = [item.matched_buffers[-1] for item in matches]
    given = [part for item in matches for part in list(item.matched_buffers)[:-1]]
    inputs = [item for item in given if not any(item.same_as(other) for other in written)]
    return ["code", tirx.IntImm("int32", len(matches)), inputs]


def without_kernels(module: IRModule) -> IRModule:
    """Return what both leave: TVM has the prim func, or an external function, where here is the kernel."""
    return replace(module, definitions=tuple(item for item in module.definitions if not is_external(item.function)))


def split(text: str, options: Any = None) -> Any:
    module = rc.parse(in_tvm(text + EXP + SUM + SCALE).script())
    return passed(module, options or f"SplitCallTIRByPattern(patterns={list(PATTERNS)}), DeadCodeElimination")


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_are_those_of_tvm(name: str) -> None:
    theirs = relax.transform.SplitCallTIRByPattern(their_patterns(), their_codegen)(in_tvm(PROGRAMS[name]))
    theirs = relax.transform.DeadCodeElimination()(theirs)
    kept = "\n".join(line for line in theirs.script().splitlines() if "ExternFunc" not in line)
    assert first_difference(without_kernels(split(PROGRAMS[name]).after), rc.parse(kept)) is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kernels_give_the_same_values(name: str) -> None:
    after = split(PROGRAMS[name]).after
    same_values(rc.parse(f"@I.ir_module\nclass Module:\n{PROGRAMS[name]}"), after)
    assert rc.structural_equal(rc.parse(rc.script(after)), after)


def reasons(text: str, passes: Any = None) -> Sequence[str]:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{text}{EXP}{SUM}{SCALE}")
    stage = passed(module, passes or f"SplitCallTIRByPattern(patterns={list(PATTERNS)})")
    return (*remarks(stage, "applied"), *remarks(stage, "missed"), *remarks(stage, "note"))


def test_what_was_done_is_said() -> None:
    said = ("@f: the library does C; @unfused_epilogue does the rest",)
    assert reasons(PROGRAMS["what is left reads what the kernel gives"]) == said
    assert reasons(PROGRAMS["nothing is left"]) == ("@f: the library does C, B; nothing is left",) * 2
    none = ("there are no patterns: give prim funcs, or names of prim funcs of the module",)
    assert reasons(PROGRAMS["nothing is left"], "SplitCallTIRByPattern") == none


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PROGRAMS["the first nest is not known"], "T.sin(A[vi, vj]) stands where the pattern has T.exp(A[vi, vj])"),
        (PROGRAMS["an input is transposed"], "vj stands where the pattern has vi"),
        (PROGRAMS["one buffer stands for two"], "A: float32[4, 4] stands where the pattern has B: float32[4, 4]"),
        (PROGRAMS["there is an init"], "block B with an init stands where the pattern has block B without an init"),
    ],
    ids=("function", "indices", "buffers", "init"),
)
def test_why_a_nest_is_not_matched_is_said(text: str, why: str) -> None:
    (said,) = reasons(text)
    assert said.startswith("@f stays: ")
    assert why in said.removeprefix("@f stays: ").split("; ")


EXPS: Final = nest("C", "T.exp(A[vi, vj])") + nest("D", "T.exp(C[vi, vj])")
READS_BOTH: Final = prim_func("f", "A B", EXPS + nest("B", "C[vi, vj] + D[vi, vj] * A[vi, vj]"), "C D") + main(
    "x", "f: x"
)


def test_a_kernel_gives_one_value() -> None:
    # TVM gives both nests to the kernel, and leaves a sum that reads a buffer which is nowhere.
    after = split(READS_BOTH).after
    same_values(rc.parse(f"@I.ir_module\nclass Module:\n{READS_BOTH}"), after)
    assert reasons(READS_BOTH) == ("@f: the library does C; @unfused_epilogue does the rest",)


def test_several_results_may_be_left() -> None:
    nests = nest("C", "T.exp(A[vi, vj])") + nest("B", "T.sin(C[vi, vj])") + nest("D", "C[vi, vj] * A[vi, vj]")
    both = main("x", "f: x").replace(f"out_ty={TENSOR}", f"out_ty=[{TENSOR}, {TENSOR}]")
    text = prim_func("f", "A B D", nests, "C") + both
    same_values(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), split(text).after)
    assert reasons(text) == ("@f: the library does C; @unfused_epilogue does the rest",)
    early = text.replace("C[vi, vj] =", "B[vi, vj] =").replace("B[vi, vj] = T.sin(C", "C[vi, vj] = T.sin(B")
    assert reasons(early) == ("@f stays: what matches already writes the result B",)


def test_a_prim_func_that_others_use_stays_beside_the_kernel() -> None:
    text = PROGRAMS["what is left reads what the kernel gives"].replace("private=True, ", "", 1)
    after = split(text).after
    assert sorted(item.var.name for item in after.definitions if is_external(item.function)) == ["f_kernel"]
    assert "f" in after.names
    same_values(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), after)


def codegen(count: int, *places: int) -> Any:
    def chosen(matches: tuple[NestMatch, ...]) -> list[Any]:
        return ["code", count, [matches[0].matched_buffers[place] for place in places]]

    return chosen


def test_a_code_generator_says_how_much_it_takes() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{PROGRAMS['two nests in a row make one kernel']}{EXP}")
    pattern = module["exp"]
    assert isinstance(pattern, PrimFunc)

    def after(count: int, *places: int) -> IRModule:
        return run(module, SplitCallTIRByPatternOptions((pattern,), codegen(count, *places)), PassContext())

    assert "unfused_epilogue" in after(1, 0).names
    same_values(module, after(1, 0))
    assert after(0, 0) is module


SIZED: Final = """
    @T.prim_func(s_tir=True)
    def scale(a: T.handle, b: T.handle, s: T.float32):
        m = T.int64()
        A = T.match_buffer(a, (m,), "float32")
        B = T.match_buffer(b, (m,), "float32")
        for i in range(m):
            with T.sblock("B"):
                vi = T.axis.spatial(m, i)
                B[vi] = A[vi] * s

    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.sblock_alloc_buffer((n,), "float32")
        for i in range(n):
            with T.sblock("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] * T.float32(3)
        for i in range(n):
            with T.sblock("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = T.exp(C[vi])

    @R.function
    def main(x: R.Tensor(("k",), dtype="float32"), y: R.Tensor((5,), dtype="float32")):
        k = T.int64()
        cls = Module
        u = R.call_tir(cls.f, (x,), out_ty=R.Tensor((k,), dtype="float32"))
        v = R.call_tir(cls.f, (y,), out_ty=R.Tensor((5,), dtype="float32"))
        return (u, v)
"""


def test_a_size_of_a_pattern_stands_for_any_other() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SIZED}")
    stage = passed(module, "SplitCallTIRByPattern(patterns=['scale'])")
    assert len(remarks(stage, "applied")) == 2
    same_values(module, stage.after)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("none", "the pattern none is no prim func of the module"), ("f", "the pattern f is not one nest of loops")],
)
def test_what_is_no_pattern_is_refused(pattern: str, words: str) -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SIZED}")
    stage = rc.run_pipeline(module, f"SplitCallTIRByPattern(patterns=[{pattern!r}])")[-1]
    assert [(item.code, item.message) for item in stage.diagnostics] == [("PS018", words)]
