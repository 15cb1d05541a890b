"""Packed functions with schemas as text and as data."""

import msgspec
import pytest

from relax_core.cli import main
from relax_core.frontend.parse import parse_text
from relax_core.ops.packed.registry import PACKED
from relax_core.ops.packed.schema import parse_schema
from relax_core.present.catalog_of.packed import packed_function, packed_functions, packed_listing, packed_page


def test_every_function_is_listed_with_a_schema_that_reads() -> None:
    found = packed_functions()
    assert {item.name for item in found} >= set(PACKED)
    for item in found:
        assert str(parse_schema(item.schema)) == item.schema
        assert item.summary or item.name not in PACKED
    assert packed_listing(found).splitlines()[-1] == f"{len(found)} packed functions"


@pytest.mark.parametrize("name", sorted(PACKED))
def test_the_shown_call_reads_as_a_call_of_the_schema(name: str) -> None:
    item = packed_function(name)
    assert item is not None
    names = ", ".join(f"{param.name}: R.Any" for param in item.params)
    call = item.call.replace("R.Tensor(...)", 'R.Tensor((2,), "float32")')
    text = f"@R.function(pure=False)\ndef main({names}):\n    y = {call}\n    return y\n"
    parsed = parse_text(text, "call.py")
    assert parsed.modules
    assert [d.render() for d in parsed.diagnostics if d.severity == "error"] == []


def test_a_page_tells_all_that_is_declared() -> None:
    item = packed_function("gelu_out")
    assert item is not None
    assert (
        packed_page(item)
        == """\
libtorch_gelu_out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)
    Writes the Gaussian error linear unit, exact or by tanh.
    self: Tensor
    approximate: str, default 'none', one of 'none', 'tanh'
    out: Tensor(a!), written
    gives: Tensor(a!)
    type of the result: from the types and values of the arguments
    effects: writes the marked tensors
    called: R.call_dps_packed("libtorch_gelu_out", (self,), approximate='none', out_ty=R.Tensor(...))"""
    )


def test_the_command_prints_a_packed_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "libtorch_add_out"]) == 0
    assert capsys.readouterr().out.startswith("libtorch_add_out(Tensor self, Tensor other, *, Scalar alpha=1")
    assert main(["ops", "libtorch_add_out", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["results"] == ["Tensor(a!)"]
    assert main(["ops", "libtorch_nothing", "--packed"]) == 2
    assert "no packed function libtorch_nothing" in capsys.readouterr().err
