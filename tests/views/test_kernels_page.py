"""The Kernels page: forms beside each other, a part selected in all of them, sizes and modes in the address."""

import re
from html import unescape
from typing import Any, cast

import pytest
from playwright.sync_api import Page, expect

from tests.views.pages import opened, sent_to
from views.state.selection import screen

MATMUL, SOFTMAX = "seeds/my_ir_module.py", "tir/row_softmax.py"
NO_KERNELS = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x
"""


def test_the_address_holds_kernel_sizes_part_and_form() -> None:
    asked = screen(sample=MATMUL, kernel="tir_matmul", sizes="m=4,n=8,k=8", part=2, view="lowered", mode="bitwise")
    view, model = sent_to(opened("kernels", asked))["relaxscope_kernels"]
    assert (view["part"], view["form"]) == (2, "lowered")
    assert model["name"] == "tir_matmul"
    assert model["sizes"] == [["m", 4], ["n", 8], ["k", 8]]


def test_a_kernel_or_size_of_another_program_falls_back_to_the_first() -> None:
    for odd in (screen(sample=SOFTMAX, kernel="tir_matmul"), screen(sample=SOFTMAX, sizes="q=3")):
        assert sent_to(opened("kernels", odd))["relaxscope_kernels"][1]["name"] == "row_softmax"


def test_a_step_is_switched_off_and_measured() -> None:
    app = opened("kernels", screen(sample=SOFTMAX, kernel="row_softmax", sizes="n=64,m=64"))
    words = [item[2] for item in sent_to(app)["relaxscope_kernels"][1]["remarks"] if item[1] == "applied"]
    assert any(item.startswith("Rows") for item in words)
    app.toggle(key="kernels.step.rows").set_value(False).run()
    words = [item[2] for item in sent_to(app)["relaxscope_kernels"][1]["remarks"] if item[1] == "applied"]
    assert not any(item.startswith("Rows") for item in words)
    assert not app.toggle(key="kernels.step.rows").value
    app.button(key="kernels.steps.measure").click().run()
    assert not app.exception
    assert any("median of" in item.value for item in app.caption)
    table: Any = app.dataframe[0].value
    assert all(factor > 0 for factor in table["Times as long"])
    app.toggle(key="kernels.step.rows").set_value(True).run()
    words = [item[2] for item in sent_to(app)["relaxscope_kernels"][1]["remarks"] if item[1] == "applied"]
    assert any(item.startswith("Rows") for item in words)


def test_the_loops_behind_each_step_are_shown_beside_those_before() -> None:
    app = opened("kernels", screen(sample=SOFTMAX, kernel="row_softmax", sizes="n=64,m=64"))
    app.toggle(key="kernels.plan").set_value(True).run()
    assert "relaxscope_kernels" not in sent_to(app)
    model = sent_to(app)["relaxscope_diff"][1]
    assert model["after_title"] == "After · Rows"
    step = app.selectbox(key="kernels.plan.stage")
    assert len(step.options) >= 3
    step.set_value(len(step.options)).run()
    assert sent_to(app)["relaxscope_diff"][1]["after_title"] == "After · Collapse"
    app.toggle(key="kernels.plan").set_value(False).run()
    assert "relaxscope_kernels" in sent_to(app)


def test_a_step_that_there_is_not_falls_back_to_all() -> None:
    app = opened("kernels", screen(sample=SOFTMAX, without="tiles"))
    assert sent_to(app)["relaxscope_kernels"][1]["name"] == "row_softmax"


def test_a_program_without_kernels_offers_some() -> None:
    app = opened("kernels", screen(sample="seeds/print_closure.py", text=NO_KERNELS))
    assert "relaxscope_kernels" not in sent_to(app)
    app.button(key=f"kernels.open.{SOFTMAX}").click().run()
    assert sent_to(app)["relaxscope_kernels"][1]["name"] == "row_softmax"


RACE = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[tx] = A[bx * 64 + tx]
    B[bx * 64 + tx] = S[63 - tx]
"""


def test_a_launch_is_simulated_with_all_its_threads() -> None:
    app = opened("kernels", screen(sample=SOFTMAX, text=RACE))
    assert not app.exception
    assert not app.toggle, "there is nothing else to show"
    assert [item.value.partition("** ")[2] for item in app.error] == ["1 finding on these inputs"]
    assert any("race on shared memory" in item.value for item in app.markdown)
    assert [item.value for item in app.caption if "launched" in item.value] == [
        "`main` launched 2 blocks of 64 threads"
    ]
    mended = RACE.replace("    B[bx", '    T.tvm_storage_sync("shared")\n    B[bx')
    app = opened("kernels", screen(sample=SOFTMAX, text=mended, threads=1))
    assert not app.error
    assert app.success[0].value.startswith("**Clean")


def test_a_launch_that_runs_here_is_shown_as_code_or_simulated() -> None:
    app = opened("kernels", screen(sample=SOFTMAX, text=RACE.replace("S[63 - tx]", "S[tx]")))
    assert "relaxscope_kernels" in sent_to(app)
    app.toggle(key="kernels.threads").set_value(True).run()
    assert "relaxscope_kernels" not in sent_to(app)
    assert app.success[0].value.startswith("**Clean")


@pytest.mark.parametrize("sample", ["gpu/tiled_matmul.py", "gpu/race.py"])
def test_a_kernel_for_a_gpu_is_simulated_where_no_code_is_made_of_it(sample: str) -> None:
    app = opened("kernels", screen(sample=sample))
    assert not app.exception
    captions = [unescape(item.value) for item in app.caption]
    assert any(item.startswith("A kernel for a GPU: this machine has no code for it.") for item in captions)
    assert any("launched" in item for item in captions)
    assert any(re.search(r"at least [\d.]+ (us|ns), bound by", item) for item in captions)
    assert bool(app.error) == (sample == "gpu/race.py")


def test_what_costs_time_in_a_launch_is_a_table_whose_codes_are_explained() -> None:
    app = opened("kernels", screen(sample="errors/gp_bank_conflict.py", threads=1))
    tables = [cast("Any", table.value) for table in app.dataframe]
    (remark,) = next(table for table in tables if "Remark" in table).to_dict("records")
    assert (remark["Line"], remark["Code"]) == (18, "GP014")
    assert remark["Text"].startswith("B[i * 32 + tx] = shared[tx, i]")
    assert "32-way bank conflict" in remark["Remark"]
    assert remark["Hint"].startswith("pad the rows")
    app.button(key="kernels.remarks.GP014").click().run()
    assert not app.exception


@pytest.mark.browser
def test_from_a_kernel_for_a_gpu_a_click_leads_into_its_threads(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/kernels?sample=gpu/tiled_matmul.py")
    page.get_by_role("button", name="Step through its threads").click()
    page.wait_for_url("**/run?**inside=0**")
    expect(page.locator(".root[data-clock]").locator(".warps")).to_be_visible()


def test_a_program_without_threads_offers_no_simulation() -> None:
    app = opened("kernels", screen(sample=SOFTMAX))
    assert not [item for item in app.toggle if item.key == "kernels.threads"]


@pytest.mark.browser
def test_a_part_is_selected_in_every_form(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/kernels?sample={MATMUL}")
    root = page.locator(".root[data-kernel='tir_matmul']")
    root.locator("tr[data-part='4']").first.click()
    for form in ("TIR", "LLVM", "Assembly"):
        expect(root.locator(f"section[data-form='{form}'] .ln.sel").first).to_be_visible()
    page.wait_for_url("**part=4**")
    page.keyboard.press("j")
    expect(root).to_have_attribute("data-part", "5")
    page.keyboard.press("l")
    expect(root).to_have_attribute("data-form", "lowered")
    page.wait_for_url("**view=lowered**")
