"""The operators that are measured: each gives what NumPy gives, and the document says what was measured."""

import numpy as np
import pytest

from benchmarks.operator_cases import CASES, OperatorCase
from benchmarks.performance import NUMPY, OURS, TVM, Measured, as_markdown, geometric_mean, main, numpy_call, our_call


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_operator_gives_what_numpy_gives(case: OperatorCase) -> None:
    inputs = case.inputs()
    np.testing.assert_allclose(our_call(case, inputs)(), numpy_call(case, inputs)(), 2e-3, 2e-3)


def test_the_document_has_the_geometric_means_and_the_least_ratio() -> None:
    exp, add = (next(case for case in CASES if case.name == name) for name in ("exp", "add"))
    found = (
        Measured(exp, {OURS: 1e-3, TVM: 4e-3, NUMPY: 2e-3}, 0.1, 15),
        Measured(add, {OURS: 2e-6, TVM: 2e-6, NUMPY: 1e-6}, 0.02, 3),
    )
    text = as_markdown(found)
    assert "| all | 2 | 2.00 | 1.00 | 1.00 |" in text
    assert "| exp | 1.00 ms | 10% | 4.00 ms | 2.00 ms | 4.00 | 2.00 | 15 |" in text
    assert "| add | 2.0 us | 2% | 2.0 us | 1.0 us | 1.00 | 0.50 | 3 |" in text


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert geometric_mean((4.0, 0.25)) == pytest.approx(1.0)


@pytest.mark.parametrize("arguments", [["no such operator"], ["exp", "--write"]])
def test_what_cannot_be_measured_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err
