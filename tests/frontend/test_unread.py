"""Nothing that a call form is given is passed over: an argument too many changes the module, or is told."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.frontend.tvmscript.names import import_aliases, qualified
from relax_core.ir.equality import first_difference
from relax_core.passes.pipeline import run_pipeline
from relax_core.pattern.language.text import parse_pattern
from tests.frontend.constructs import RELAX, TIR

HERE = Path(__file__).parent
TABLES = ("relax_well_formed", "relax_2022", "tir_well_formed", "tir_of_other_years")
TWICE = "by a name twice"
EXTRA = {"by place": "17", "by name": "bogus=17", "starred": "*[17]", "of a dictionary": '**{"bogus": 17}', TWICE: ""}


def programs() -> Iterator[str]:
    yield from (RELAX, TIR)
    for name in TABLES:
        texts = tomllib.loads(HERE.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
        yield from (text for text in texts.values() if isinstance(text, str))


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Return the calls inside of modules and of functions that stand alone."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.decorator_list:
            yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def offset(text: str, line: int, column: int) -> int:
    """Return the place in the text of a line and a column in bytes."""
    before = text.split("\n")[: line - 1]
    head = text.split("\n")[line - 1].encode()[:column].decode()
    return sum(len(item) + 1 for item in before) + len(head)


def with_argument(text: str, call: ast.Call, extra: str) -> str:
    """Return the text with one more argument: behind those by place, or at the end; a first name twice if it is ""."""
    if call.keywords and "=" not in extra and "**" not in extra:
        first = call.keywords[0]
        at = offset(text, first.lineno, first.col_offset)
        return f"{text[:at]}{extra or f'{first.arg}=17'}, {text[at:]}"
    assert call.end_lineno is not None
    assert call.end_col_offset is not None
    end = offset(text, call.end_lineno, call.end_col_offset) - 1
    assert text[end] == ")"
    inside = text[:end].rstrip()
    comma = "" if inside.endswith(",") or not (call.args or call.keywords) else ", "
    return f"{inside}{comma}{extra}{text[end:]}"


def said(diagnostics: tuple[Diagnostic, ...]) -> "Counter[tuple[str, str]]":
    return Counter((item.code, item.severity) for item in diagnostics if item.severity != "note")


def is_quiet(before: Parsed, after: Parsed) -> bool:
    """Tell whether nothing more is said, and the modules are the same."""
    if said(after.diagnostics) - said(before.diagnostics) or len(before.modules) != len(after.modules):
        return False
    pairs = zip(before.modules, after.modules, strict=True)
    return all(first_difference(was, now, strict=True) is None for was, now in pairs)


@pytest.mark.parametrize("kind", EXTRA)
def test_no_call_form_passes_over_an_argument(kind: str) -> None:
    tried: set[tuple[object, ...]] = set()
    quiet: list[str] = []
    for text in programs():
        tree = ast.parse(text)
        aliases: dict[str, str] = {}
        for statement in tree.body:
            aliases.update(import_aliases(statement))
        before: Parsed | None = None
        for call in calls(tree):
            name = qualified(call.func, aliases) or ast.unparse(call.func)
            form = (name, len(call.args), tuple(sorted(item.arg or "**" for item in call.keywords)))
            if form in tried or (kind == TWICE and not call.keywords):
                continue
            tried.add(form)
            before = before or parse_text(text, "program.py")
            if is_quiet(before, parse_text(with_argument(text, call, EXTRA[kind]), "program.py")):
                quiet.append(ast.unparse(call))
    assert len(tried) > 100
    assert quiet == []


KEYS = {
    "attributes of a module": 'I.module_attrs({"a": 1, "b": 2, "a": 3})',
    "infos of a module": 'I.module_global_infos({"vdevice": [I.vdevice("llvm")], "vdevice": []})',
    "nested attributes": 'I.module_attrs({"a": {"b": 1, "b": 2}})',
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_that_is_there_twice_is_told(kind: str) -> None:
    main = "    @R.function\n    def main(x: R.Tensor):\n        return x\n"
    parsed = parse_text(f"@I.ir_module\nclass Module:\n    {KEYS[kind]}\n{main}", "m.py")
    assert [(item.code, item.severity) for item in parsed.diagnostics] == [("PA059", "warning")]


def test_the_last_value_of_a_key_counts() -> None:
    text = (
        '@I.ir_module\nclass Module:\n    I.module_attrs({"a": 1, "b": 2, "a": 3})\n    @R.function\n'
        '    def main(x: R.Tensor):\n        R.func_attr({"k": 1, "k": 2})\n        return x\n'
    )
    (module,) = parse_text(text, "m.py").modules
    assert module.attrs == (("a", 3), ("b", 2))
    assert module["main"].attrs == (("k", 2),)


@pytest.mark.parametrize(
    ("head", "codes"),
    [
        ("@I.ir_module\n@I.ir_module\nclass Module:\n", ["PA022"]),
        ("@functools.cache\n@I.ir_module\nclass Module:\n", ["PA016", "PA022"]),
        ("@I.ir_module\n@functools.cache\nclass Module:\n", ["PA016", "PA022"]),
        ("@I.ir_module\nclass Module:\n    I.module_attrs({})\n    I.module_attrs({})\n", ["PA022"]),
        ("@I.ir_module\nclass Module:\n    I.module_global_infos({})\n    I.module_global_infos({})\n", ["PA022"]),
        ("@I.ir_module\nclass Module:\n    @functools.cache\n", ["PA004"]),
    ],
)
def test_what_a_module_says_twice_or_by_a_decorator_is_told(head: str, codes: list[str]) -> None:
    text = f"{head}    @R.function\n    def main(x: R.Tensor):\n        return x\n"
    assert sorted(item.code for item in parse_text(text, "m.py").diagnostics) == codes


def test_an_option_of_a_pass_that_is_given_twice_is_refused() -> None:
    with pytest.raises(CompileError) as raised:
        run_pipeline(parse_text(RELAX, "m.py").modules[0], "FuseOps(max_depth=1, max_depth=2)")
    assert [item.code for item in raised.value.diagnostics] == ["PS002"]


def test_an_argument_of_a_pattern_that_is_given_twice_is_refused() -> None:
    with pytest.raises(CompileError) as raised:
        parse_pattern('is_op("nn.relu")(wildcard()).has_attr(a=1, a=2)')
    assert [item.code for item in raised.value.diagnostics] == ["PT003"]
