"""The stages that apache-tvm printed for a small program, judged: as they are, and with one pass broken on purpose.

`stages/rows.log` holds what apache-tvm 0.27 printed behind each pass of its default build for a CPU; a stage without
text is that of the one before. The assertions in front of the packed functions are left out of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import BisectOf
from relax_core.engine.inputs import write_members
from relax_core.engine.protocol import Program
from relax_core.engine.session import Session
from tests.engine.asking import ask

LOG = Path(__file__).parent / "stages" / "rows.log"
HEADER = re.compile(r'^After Running Pass: .*name="([^"]*)".*$', re.M)
X = np.array([[1, -2, 3, 4], [2, 2, -1, 5], [-3, 1, 2, 1], [1, 0, -2, 2], [4, 1, 1, 0]], np.float32)
W = np.array([[1, 2, -1], [0, 1, 3], [2, -1, 1], [1, 1, -2]], np.float32)
INPUTS = write_members({"in_0": X, "in_1": W})
SUB_MODULES = 2
IMPURE = "R.call_packed('f', x, sinfo_args=R.Tensor((2,), 'float32'))"


@lru_cache(1)
def stages() -> tuple[tuple[str, str], ...]:
    """Return name and text of every stage."""
    text = LOG.read_text(encoding="utf-8")
    heads = list(HEADER.finditer(text))
    found: list[tuple[str, str]] = []
    for head, end in zip(heads, [*(item.start() for item in heads[1:]), len(text)], strict=True):
        own = text[head.end() : end].strip()
        found.append((head[1], f"{own}\n" if own else found[-1][1]))
    return tuple(found)


@dataclass(frozen=True)
class Break:
    """A pass that is wrong: what it and all passes behind it print in another way."""

    pass_name: str
    old: str
    new: str
    where: str
    """What the conclusion says of the place."""


BREAKS = {
    "a relu is dropped": Break("LegalizeOps", r"T\.max\((y\w*\[[^\]]*\]), T\.float32\(0\.0\)\)", r"\1", "main.a"),
    "a call takes another operand": Break(
        "CallTIRRewrite", r"cls\.add\((?:s|alloc2), (\w+)\)", r"cls.add(\1, \1)", "out: "
    ),
    "memory is planned over a value in use": Break(
        "StaticPlanBlockMemory", r"(alloc3: .*? = R\.\w+\.alloc_tensor\()storage\d*", r"\1storage1", "out: "
    ),
    "a reduction starts with another value": Break(
        "s_tir.LowerInitBlock", r"(matmul(?:_1)?\[.*\]) = T\.float32\(0\.0\)", r"\1 = T.float32(1.0)", "`matmul`"
    ),
    "an index is wrong": Break(
        "s_tir.ConvertBlocksToOpaque", r"(a_red(?:_1)?\[.*\] \+ a(?:_1)?\[.*)\bk1\]", r"\1 0]", "`sum`"
    ),
    "a loop runs once too often": Break(
        "s_tir.StmtSimplify", r"T\.grid\(n, T\.int64\(3\), T\.int64\(4\)\)",
        "T.grid(n, T.int64(3), T.int64(5))", "`matmul`",
    ),
    "a stride is wrong": Break(
        "tirx.FlattenBuffer", r"\bi0 \* T\.int64\(4\) \+ k\b", "i0 * T.int64(3) + k", "`matmul`"
    ),
    "a tail is left out": Break("tirx.VectorizeLoop", r"for ax0 in range\(n\)", "for ax0 in range(n - 1)", "`add`"),
    "a variable has no definition": Break(
        "tirx.UnrollLoop", r"T_add_1\[ax0\] = s_1\[ax0\]", "T_add_1[ax0] = s_1[ax9]", "ax9"
    ),
    "a quotient is turned round": Break(
        "tirx.CommonSubexprElim", r"a_1\[cse_v2\] / lv3_1\[ax0\]", "lv3_1[ax0] / a_1[cse_v2]", "`divide`"
    ),
    "a size is taken from another dimension": Break(
        "tirx.MakePackedAPI", r"tvm_struct_get\(sum_a_shape, 0, 17", "tvm_struct_get(sum_a_shape, 1, 17", "`sum`"
    ),
    "a workspace is too small": Break(
        "tirx.LowerTVMBuiltin", r"T_add_1 = T\.decl_buffer\(\(n,\), data=T_add\.data, elem_offset=0\)",
        "T_add_1 = T.decl_buffer((n,), data=T.TVMBackendAllocWorkspace(1, dev_id, T.uint64(4), 2, 32))", "`add`",
    ),
    "an intrinsic is another one": Break(
        "tirx.LowerIntrin", r'"llvm\.fmuladd", ([^,]*), ([^,]*), ([^,)]*)\)', r'"llvm.fma", \1, \2, \2)', "`matmul`"
    ),
}  # fmt: skip


def programs(broken: Break | None = None) -> Iterator[Program]:
    """Give the stages as programs, from the broken pass on with its mistake."""
    is_broken = False
    changed = 0
    for name, text in stages():
        is_broken = is_broken or (broken is not None and name == broken.pass_name)
        if is_broken and broken is not None:
            text, count = re.subn(broken.old, broken.new, text)
            changed += count
        yield Program(text, name, inputs=INPUTS)
    assert broken is None or changed, "the mistake is in no stage"


def bisected(session: Session, broken: Break | None = None) -> Bisection:
    first, *others = programs(broken)
    return ask(session, BisectOf(first, tuple(others)))


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def test_every_stage_that_holds_the_program_runs_and_nobody_is_blamed(session: Session) -> None:
    found = bisected(session)
    assert {stage.verdict for stage in found.stages if not stage.is_aside} == {"reference", "same"}
    assert sum(stage.is_aside for stage in found.stages) == SUB_MODULES
    assert (found.status, found.first_different, found.suspects) == (0, -1, ())
    assert "computes the same after all 77 stages" in found.conclusion


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS)
def test_the_pass_that_was_broken_is_named(session: Session, broken: Break) -> None:
    found = bisected(session, broken)
    assert found.status == 1
    assert [found.stages[number].name for number in found.suspects] == [broken.pass_name]
    last = found.to_text().split("\n")[-1]
    assert broken.pass_name in last
    assert broken.where in last
    behind = [stage for stage in found.stages[found.first_different + 1 :] if not stage.is_aside]
    assert {stage.verdict for stage in behind} <= {"different"}


def test_a_container_with_the_text_of_its_last_child_is_not_blamed(session: Session) -> None:
    found = bisected(session, Break("AttachGlobalSymbol", r"cls\.relu\((\w+), (\w+)\)", r"cls.relu(\2, \1)", ""))
    assert found.stages[found.first_different].name == "AttachGlobalSymbol"
    assert all(stage.is_repeated for stage in found.stages if stage.name == "sequential" and stage.index < 20)


def test_what_another_pass_compiles_on_its_own_is_put_aside(session: Session) -> None:
    scratch = "# from tvm.script import tirx as T\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
    scratch += '    def tir_function(A: T.Buffer((2,), "float32")):\n        A[0] = T.float32(1)\n'
    texts = [Program(text, name, inputs=INPUTS) for name, text in stages()[:8]]
    texts.insert(5, Program(scratch, "tirx.BindTarget", inputs=INPUTS))
    found = ask(session, BisectOf(texts[0], tuple(texts[1:])))
    assert found.stages[5].is_aside
    assert found.stages[5].words.startswith("sub-module")
    assert found.status == 0


def test_prim_funcs_alone_are_judged_as_they_are(session: Session) -> None:
    texts = [text for _, text in stages()[20:]]
    given = write_members({"in_0": X, "in_1": W})
    made = [Program(text, f"{number}.py", entry="matmul", inputs=given) for number, text in enumerate(texts)]
    found = ask(session, BisectOf(made[0], tuple(made[1:])))
    assert {stage.verdict for stage in found.stages if not stage.is_aside} == {"reference", "same"}
    wrong = [*made[:5], *(Program(re.sub(r"== T\.int64\(0\)", "== T.int64(1)", item.text), item.name, entry="matmul",
                                  inputs=given) for item in made[5:])]  # fmt: skip
    found = ask(session, BisectOf(wrong[0], tuple(wrong[1:])))
    assert (found.status, found.first_different) == (1, 5)


def test_modules_of_prim_funcs_are_judged_by_the_interface() -> None:
    texts = [text for _, text in stages()[20:26]]
    modules = {f"{number}": rc.parse(text, name=f"{number}.py") for number, text in enumerate(texts)}
    y = np.zeros((5, 3), np.float32)
    found = rc.bisect_modules(modules, X, W, y, entry="matmul")
    assert (found.verdict, found.entry) == ("same", "run_matmul")
    wrong = rc.parse(texts[-1].replace("== T.int64(0)", "== T.int64(1)"), name="wrong.py")
    found = rc.bisect_modules({**modules, "wrong": wrong}, X, W, y, entry="matmul")
    assert found.first_different == 6


def test_a_buffer_that_a_kernel_does_not_write_wholly_shows_what_was_there(session: Session) -> None:
    text = "@I.ir_module\nclass Module:\n    @T.prim_func\n"
    text += '    def f(A: T.Buffer(("n",), "float32"), k: T.int32):\n        A[0] = T.Cast("float32", k)\n'
    given = write_members({"in_0": np.array([5, 6, 7], np.float32), "in_1": np.array(3)})
    found = ask(session, BisectOf(Program(text, "f.py", inputs=given), (Program(text + "\n", "g.py", inputs=given),)))
    assert found.stages[1].verdict == "same"


@pytest.mark.parametrize(
    ("operand", "code"), [("R.matmul(x, R.zeros((3, 3), 'float32'))", "TY012"), ("u", "RS"), (IMPURE, "WF005")]
)
def test_a_pass_that_printed_a_mistake_in_relax_is_named_with_the_line(
    session: Session, operand: str, code: str
) -> None:
    text = "# from tvm.script import relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
    text += '    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):\n'
    texts = [f"{text}        y = R.add(x, {item})\n        return y\n" for item in ("x", operand, "x", operand)]
    found = ask(session, BisectOf(Program(texts[0], "0"), tuple(Program(item, "P") for item in texts[1:])))
    assert (found.status, found.first_different) == (1, 1)
    assert code in found.stages[1].words
    assert (found.stages[1].line, found.stages[1].where) == (6, f"the mistake is in line 6, `y = R.add(x, {operand})`")
    assert "the mistake is in line 6" in found.conclusion
