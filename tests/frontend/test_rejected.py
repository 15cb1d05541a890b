"""Programs that break a rule are rejected by parsing or checking, and a broken program is reported without noise."""

import pytest

from relax_core.check.check import check
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text
from tests.frontend.rejected import REJECTED, WARNED


def errors(text: str) -> list[Diagnostic]:
    parsed = parse_text(text, "rejected.py")
    found = [item for item in parsed.diagnostics if item.severity == "error"]
    return found or [item for module in parsed.modules for item in check(module) if item.severity == "error"]


@pytest.mark.parametrize("name", REJECTED)
def test_a_program_that_breaks_a_rule_is_rejected(name: str) -> None:
    found = errors(REJECTED[name])
    assert len(found) == 1, [item.render() for item in found]
    assert found[0].span is not None


@pytest.mark.parametrize("name", WARNED)
def test_a_program_that_tvm_reads_opens_with_a_warning(name: str) -> None:
    parsed = parse_text(WARNED[name], "warned.py")
    (module,) = parsed.modules
    found = [*parsed.diagnostics, *check(module)]
    assert [item.severity for item in found if item.severity != "note"] == ["warning"], [x.render() for x in found]


def test_at_least_95_of_100_are_rejected() -> None:
    rejected = sum(bool(errors(text)) for text in REJECTED.values())
    assert rejected >= 0.95 * len(REJECTED) >= 57


def test_ten_errors_are_reported_in_one_go() -> None:
    lines = [
        "a = R.expp(x)",
        "b = R.add(x)",
        "c = R.add(x, zz)",
        "d = R.add(x,",
        "e = R.const([[1], [2, 3]])",
        "f: R.Tensr = x",
        "g = R.emit_te(x)",
        "h = cls.gone(x)",
        "i = R.sum(x, axes=1)",
        'j: R.Tensor((q, 3), "float32") = x',
        "k = R.add(a, b)",
        "l = R.add(d, R.add(e, f))",
        "return R.add(k, R.add(g, R.add(h, R.add(i, j))))",
    ]
    text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor):\n        cls = Module\n"
    found = errors(text + "".join(f"        {line}\n" for line in lines))
    assert [item.span.line for item in found if item.span] == list(range(6, 16))
    assert [item.hint for item in found if item.code == "RS002"] == ["did you mean R.exp?"]
