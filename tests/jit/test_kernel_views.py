"""A kernel's code for readers: every line leads to its statement, and looking changes nothing."""

import os
import re
from collections.abc import Iterator

import pytest

from relax_core.ir.node import postorder
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, PrimFunc
from relax_core.jit.compilation.debug_lines import Origin, PlacedLine, placed_assembly, placed_ir
from relax_core.jit.compilation.llvm_remarks import captured_remarks
from relax_core.jit.compilation.target import Target
from relax_core.jit.kernel_views import KernelViews, kernel_views
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.lower import lower
from relax_core.jit.options import KernelOptions
from tests.jit.programs import elementwise, gather, plus, row_sum, tir_matmul
from tests.jit.test_samples import VALUES, sample

NAIVE = KernelOptions(is_transformed=False)
FUNCTIONS: dict[str, PrimFunc] = {
    "matmul as reported": tir_matmul(is_corrected=False),
    "matmul": tir_matmul(is_corrected=True),
    "row sum": row_sum(),
    "gather": gather(),
    "add": elementwise(plus, 1, ("float32", "float32"), "float32"),
}


@pytest.fixture(scope="module")
def target() -> Target:
    return Target()


def views_of(target: Target, function: PrimFunc, *, is_specialised: bool = False) -> KernelViews:
    sizes = dict.fromkeys(shape_symbols(function), 64) if is_specialised else None
    return kernel_views(target, function, sizes, lambda _: None, options=NAIVE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_marks_do_not_change_the_machine_code(target: Target, name: str) -> None:
    plain, marked = (
        lower(FUNCTIONS[name], None, lambda _: None, options=NAIVE, are_distinct=True, has_origins=has_origins)
        for has_origins in (False, True)
    )
    assert [line.text for line in placed_ir(marked.text)] == [line.text for line in placed_ir(plain.text)]
    assert list(instructions(placed_assembly(target.assembly(marked.text)))) == list(
        instructions(placed_assembly(target.assembly(plain.text)))
    )


def instructions(lines: tuple[PlacedLine, ...]) -> Iterator[str]:
    """Leave out the numbers of labels, which debug information shifts."""
    for line in lines:
        if not line.text.startswith(".L") and not line.text.lstrip().startswith("."):
            yield re.sub(r"\.L\w+", ".L", line.text).strip()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("is_specialised", [False, True])
def test_every_form_leads_to_the_stores_and_the_loops(target: Target, name: str, is_specialised: bool) -> None:
    views = views_of(target, FUNCTIONS[name], is_specialised=is_specialised)
    for lines in (views.lowered, views.optimised, views.assembly):
        reached = {views.places[line.place].node for line in lines if line.place is not None}
        assert any(isinstance(node, BufferStore) for node in reached), lines
        assert any(isinstance(node, For) for node in reached)
        assert not any("!dbg" in line.text or ".loc" in line.text for line in lines)


def test_a_check_is_a_place_of_its_own(target: Target) -> None:
    views = views_of(target, FUNCTIONS["gather"])
    (checked,) = views.checked
    assert isinstance(checked, BufferLoad)
    assert checked.buffer.name == "Table"
    place = views.places.index(Origin(checked, is_check=True))
    assert any(line.place == place and " br " in f" {line.text}" for line in views.lowered)
    assert any(line.place == place for line in views.assembly)


def test_the_vectoriser_is_heard_at_its_loop(target: Target, capfd: pytest.CaptureFixture[str]) -> None:
    views = views_of(target, FUNCTIONS["add"])
    (applied,) = (item for item in views.vectoriser if item.is_applied)
    assert isinstance(views.places[applied.place].node, For)
    missed = views_of(target, FUNCTIONS["row sum"]).vectoriser
    assert missed
    assert not any(item.is_applied for item in missed)
    target.assembly(lower(FUNCTIONS["add"], None, lambda _: None, options=NAIVE, are_distinct=True).text)
    assert capfd.readouterr().err == ""


def ignored(*_: object) -> None:
    pass


def test_what_others_write_to_standard_error_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    with captured_remarks(ignored) as found:
        os.write(2, b"a warning\nremark: kernel:3:0: loop not vectorized: a reason\nUnknown data dependence.\n\n")
    assert found == [(3, "loop not vectorized: a reason. Unknown data dependence.")]
    assert capfd.readouterr().err == "a warning\n"


# Operations on numbers, and on vectors: what statements compute, not what counts rounds.
COMPUTING = re.compile(r"= (?:f(?:add|sub|mul|div)|load <|shufflevector) |store <|@llvm\.(?:fmuladd|masked|maximum)\.")
SAMPLES = {name: sample(f"tir/{name}.py")[1] for name in VALUES}


@pytest.mark.parametrize("width", [128, 512])
@pytest.mark.parametrize("name", [*FUNCTIONS, *SAMPLES])
def test_what_transformations_compute_leads_to_the_statement_that_does(name: str, width: int) -> None:
    function = {**FUNCTIONS, **SAMPLES}[name]
    sizes = dict.fromkeys(shape_symbols(function), 64)
    options = KernelOptions(vector_bits=width, threads=1)
    lowered = lower(function, sizes, lambda _: None, options=options, are_distinct=True, has_origins=True)
    lines = [line for line in placed_ir(lowered.text) if line.place is not None and COMPUTING.search(line.text)]
    loops = [line.text for line in lines if isinstance(lowered.places[line.place or 0].node, For)]
    assert not loops
    statements = {item for item in postorder(function.body) if isinstance(item, BufferStore)}
    reached = {lowered.places[line.place or 0].node for line in lines}
    assert reached <= statements | {item for store in statements for item in postorder(store)}


def test_the_start_of_a_reduction_leads_to_its_initialisation() -> None:
    function = tir_matmul(is_corrected=True)
    sizes = dict.fromkeys(shape_symbols(function), 64)
    lowered = lower(function, sizes, lambda _: None, are_distinct=True, has_origins=True)
    (init,) = (item.init for item in postorder(function.body) if isinstance(item, Block) and item.init is not None)
    applied = {item.transform for item in lowered.remarks if item.kind == "applied"}
    assert "tile" in applied
    assert init in {place.node for place in lowered.places}
