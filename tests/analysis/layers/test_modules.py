"""The modules of a layer: what the names of weights tell, and nothing else."""

import pytest

from relax_core.analysis.layers.modules import modules_of
from relax_core.analysis.layers.repeats import OUTSIDE, Repeat

Binding = tuple[str, tuple[int, ...]]
"""The names of the weights that it uses, and the places of the bindings; -1 is the result of the layer before."""


def found(*bindings: Binding, copy: str = "layers_1") -> list[str]:
    """Return the modules of each binding of the second of two equal layers."""
    length = len(bindings)
    names = [[f"{copy}_{name}" for name in words.split()] for words, _ in bindings]
    uses = [
        [*(OUTSIDE for _ in words.split()), *(place + start for place in used)]
        for start in (0, length)
        for words, used in bindings
    ]
    unnamed: list[list[str]] = [[]] * length
    first, second = modules_of(("layers_0", "layers_1"), Repeat(0, length, 2), uses, [*unnamed, *names])
    assert first == ((),) * length
    return ["/".join(path) for path in second]


ATTENTION: tuple[Binding, ...] = (
    ("norm_in", (-1,)),
    ("attn_q_weight", ()),
    ("", (0, 1)),
    ("attn_q_bias", (2,)),
    ("attn_k_weight", (0,)),
    ("", (3, 4)),
    ("attn_out_weight", ()),
    ("", (5, 6)),
    ("norm_out", (7, -1)),
)


def test_a_module_is_what_lies_between_the_uses_of_its_weights() -> None:
    query = ["attn/q"] * 3
    assert found(*ATTENTION) == ["", *query, "attn", "attn", "attn", "attn", ""]


def test_weights_with_others_between_them_are_of_no_module() -> None:
    assert found(("norm_in", (-1,)), ("proj", (0,)), ("norm_out", (1,)), ("", (2,))) == [""] * 4


def test_a_weight_that_is_transposed_counts_where_it_is_used() -> None:
    assert found(("norm_in", (-1,)), ("proj", ()), ("", (0, 1)), ("norm_out", (2,)), ("", (3,))) == [""] * 5


@pytest.mark.parametrize(
    "bindings",
    [
        pytest.param((("up", (-1,)), ("", (0,)), ("down", (1,)), ("", (2,))), id="names that have nothing in common"),
        pytest.param((("norm_scale norm_bias", (-1,)), ("", (0,)), ("w", (1,)), ("", (2,))), id="one binding"),
        pytest.param((("mlp_up", (-1,)), ("", (0,)), ("mlp_down", (1,))), id="the whole layer"),
        pytest.param((("upper", (-1,)), ("", (0,)), ("upward", (1,)), ("", (2,))), id="half a word"),
    ],
)
def test_no_module_is_made_up_of(bindings: tuple[Binding, ...]) -> None:
    assert found(*bindings) == [""] * len(bindings)


def test_weights_of_another_layer_name_nothing() -> None:
    assert found(*ATTENTION, copy="layers_7") == [""] * len(ATTENTION)
