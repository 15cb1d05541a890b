"""What a bisect of a recorded pipeline does once, and what it does for each form, counted."""

import gc
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.bytecode import build as building
from relax_core.bytecode.build import finishing_stages
from relax_core.check.infer import Inferencer
from relax_core.engine.debug.bisect import Call, Candidate, RunForms, bisect
from relax_core.jit.compilation import specialisation
from relax_core.passes import pipeline as running
from relax_core.passes.pipeline import Step
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from tests.engine.pipelines.stage_texts import dump

HEAD = """# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class Module:
"""
KERNEL = """    @T.prim_func(private=True)
    def {name}(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(4)), "float32")
        B = T.match_buffer(b, (n, T.int64(4)), "float32")
        for i, j in T.grid(n, T.int64(4)):
            B[i, j] = {value}

"""
TENSOR = 'R.Tensor(("n", 4), dtype="float32")'
NAMES = ("first", "second", "third")


DOUBLED, SUM = "A[i, j] * T.float32(2)", "A[i, j] + A[i, j]"
CALL = "R.call_tir(cls.{name}, (x{at},), out_sinfo={tensor})"


def form(*sums: str) -> str:
    """Write a form of the program, whose Relax function calls the kernels in turn; those named in `sums` add."""
    kernels = "".join(KERNEL.format(name=name, value=SUM if name in sums else DOUBLED) for name in NAMES)
    lines = [f"    @R.function\n    def main(x0: {TENSOR}) -> {TENSOR}:\n", "        n = T.int64()\n"]
    lines += ["        cls = Module\n"]
    tensor = TENSOR.replace('"n"', "n")
    lines += [
        f"        x{at}: {tensor} = {CALL.format(name=name, at=at - 1, tensor=tensor)}\n"
        for at, name in enumerate(NAMES, 1)
    ]
    return HEAD + kernels + "".join(lines) + f"        return x{len(NAMES)}\n"


FORMS: Mapping[str, str] = {
    # The Relax function changes, then one kernel in each form, to what computes the same in another way.
    "_000_A": form(),
    "_001_B": form().replace("x3: ", "y: ").replace("return x3", "return y"),
    "_002_C": form("first"),
    "_003_D": form("first", "second"),
    "_004_E": form("first", "second", "third"),
}


class Work:
    """Counts calls of functions, by a name that each call gives."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count: Counter[str] = Counter()
        self._patch = patch

    def watch(self, owner: Any, name: str, named: Callable[..., str]) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            self.count[named(*args)] += 1
            return function(*args, **options)

        self._patch.setattr(owner, name, counted)


def same(word: str) -> Callable[..., str]:
    def named(*_: object) -> str:
        return word

    return named


def pass_name(step: Step, *_: object) -> str:
    return step.pass_.name


def name_in_pipeline(step: Step, *_: object) -> str:
    return f"{step.pass_.name} of a pipeline"


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    found = Work(monkeypatch)
    found.watch(Inferencer, "_typed", same("typed"))
    found.watch(building, "compile_module", same("compiled"))
    found.watch(building, "run_step", pass_name)
    found.watch(running, "run_step", name_in_pipeline)
    found.watch(specialisation, "lower", same("lowered"))
    return found


def test_a_form_is_typed_and_lowered_once_and_a_kernel_once_in_all(work: Work, tmp_path: Path) -> None:
    pipeline = rc.open_pipeline(dump(tmp_path, **FORMS))
    found = rc.bisect_pipeline(pipeline)
    assert found.verdict == "same", found.to_text()
    assert [stage.verdict for stage in found.stages] == ["reference", *["same"] * 4]
    # Each form is compiled once, the first one too, and no pipeline of ours runs besides.
    assert work.count["compiled"] == len(FORMS)
    assert not [name for name in work.count if name.endswith("of a pipeline")]
    assert work.count["VMShapeLower"] == work.count["CallTIRRewrite"] == len(FORMS)
    # What is read is typed when it is checked, and not again by what lowers it.
    assert work.count["typed"] == len(FORMS)
    # Of fifteen kernels two are not the same up to names; the third one computes the sizes of what is allocated.
    assert work.count["lowered"] == 3


def test_a_form_that_ours_lowers_the_one_before_to_is_not_run_again(work: Work, tmp_path: Path) -> None:
    forms = {"_000_A": form()}
    for number, stage in enumerate(finishing_stages(rc.parse(form()), ()), 1):
        forms[f"_{number:03}_{stage.pass_name}"] = rc.script(stage.after)
    work.count.clear()
    work.watch(Machine, "run", same("run"))
    found = rc.bisect_pipeline(rc.open_pipeline(dump(tmp_path, **forms)))
    assert [stage.verdict for stage in found.stages] == ["reference", *["same"] * 6]
    # Only the first form is built; it runs once to see that its arguments are suitable, and once to be compared with.
    assert work.count["compiled"] == work.count["CallTIRRewrite"] == work.count["AttachGlobalSymbol"] == 1
    assert work.count["run"] == 2
    wrong = forms["_006_AttachGlobalSymbol"].replace("T.float32(2.0)", "T.float32(3.0)")
    found = rc.bisect_pipeline(rc.open_pipeline(dump(tmp_path, _008_Wrong=wrong)))
    assert [stage.verdict for stage in found.stages] == ["reference", *["same"] * 6, "different"]


def test_collections_wait_until_a_form_has_run() -> None:
    module = rc.parse(form())
    held: list[bool] = []

    def build() -> Any:
        held.append(gc.isenabled())
        return rc.build(module)

    def run(executable: Any, values: tuple[Value, ...]) -> Trace:
        held.append(gc.isenabled())
        return Machine(executable).run("main", values)

    candidates = [Candidate(name, build) for name in ("A", "B")]
    found = bisect(candidates, Call("main", (np.ones((2, 4), np.float32),)), RunForms(run, run))
    assert found.verdict == "same", found.to_text()
    assert held == [False] * 4
    assert gc.isenabled()
