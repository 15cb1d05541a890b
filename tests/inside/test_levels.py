"""Steps of colour: of counts, ages and values, one by one."""

import numpy as np
import pytest

from relax_core.present.running.inside_heat import STEPS, levels_of


@pytest.mark.parametrize("most", [1, 4, 5, 13, 1000, 10**7])
def test_a_count_has_the_step_of_its_fifth(most: int) -> None:
    # More cells than the greatest count, and fewer.
    for count in (8, 2000):
        counts = np.linspace(0, most, count).astype(np.int32)
        levels, legend = levels_of(counts, "count", 0)
        assert levels.tolist() == [-(-int(item) * STEPS // most) for item in counts]
        assert len(legend) == STEPS


def test_what_was_not_touched_has_no_age() -> None:
    levels, legend = levels_of(np.array([[-1, 0, 49], [50, 99, -1]]), "age", 100)
    assert levels.tolist() == [[0, 1, 3], [3, 5, 0]]
    assert (legend[0], legend[-1]) == ("0-19", "80-99")
    assert levels_of(np.array([-1, 0]), "age", 1)[0].tolist() == [0, 1]


def test_values_that_are_not_finite_have_no_step() -> None:
    values = np.array([[0, 1, np.nan], [9.99, np.inf, 10]], "float32")
    levels, legend = levels_of(values, "value", 0)
    assert levels.tolist() == [[1, 1, 0], [5, 0, 5]]
    assert legend[0] == "0 to 2"
    assert levels_of(np.full(3, 7.0), "value", 0)[0].tolist() == [1, 1, 1]
    assert levels_of(np.full(3, np.nan), "value", 0)[1] == ()
