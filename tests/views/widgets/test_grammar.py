"""One grammar, two tokenizers: what Python cuts, the editor in the browser cuts alike.

Both read the tables of `relax_core/present/grammar.py`. On any machine the browser's copy of these tables is compared;
where Node.js is, also the tokens of all samples.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from relax_core.present.code import tokenize
from tools.build_static import ESBUILD, ROOT, can_build
from tools.typescript_models import GENERATED, files

Language = Literal["tvmscript", "relay"]

SAMPLES = ROOT / "samples"
TOOL = Path(__file__).with_name("tokens.ts")
SUFFIXES: tuple[tuple[str, Language], ...] = ((".py", "tvmscript"), (".relay", "relay"))
ODD: tuple[tuple[str, Language], ...] = (
    ("", "tvmscript"),
    ("\n\n", "relay"),
    ('x = "open\ny = 1', "tvmscript"),
    ('"""a\nb\\\n"""c\n"""', "tvmscript"),
    ("'''a\n\"\"\" '''x", "tvmscript"),
    ('rb"\\"" f"{x}" u\'\' br"', "tvmscript"),
    ("0x1F 1_000 1.5e-3j .5 1. 07 1e x1 1x", "tvmscript"),
    ("@R.function\n@ tir\nx @ y @é", "tvmscript"),
    ("def  name(classy): class\tÀb2: pass", "tvmscript"),
    ("größe = ²x + x² + Ⅷ + 变量 # 注释 😀", "tvmscript"),
    ("s = \"😀\" + '\\'' # \"", "tvmscript"),
    ("/* a * b\n **/ %0 /* open", "relay"),
    ('#[version = "0.0.5"]\n# note\n#[open', "relay"),
    ("match? match match?? m.a.b @f.x? %x.0 %größe meta[relay.Constant][0]", "relay"),
    ('1f 2.5e-3f32 1bf16 3i64 "a\\"b" "open', "relay"),
    ("float32 Tensor[(2, ?), int8x4] bool uint1 A2 aA _", "relay"),
)


def texts() -> tuple[tuple[str, Language], ...]:
    return (*ODD, *(pair for suffix, language in SUFFIXES for pair in samples(suffix, language)))


def samples(suffix: str, language: Language) -> Iterator[tuple[str, Language]]:
    for path in sorted(SAMPLES.rglob(f"*{suffix}")):
        yield path.read_text(encoding="utf-8"), language


def test_tokens_spell_their_line() -> None:
    for text, language in texts():
        spelt = ["".join(token.text for token in line) for line in tokenize(text, language)]
        assert spelt == text.split("\n")


@pytest.mark.parametrize(
    ("text", "language", "syntax"),
    [
        ("def", "tvmscript", "synKeyword"),
        ("@R", "tvmscript", "synDecor"),
        ("Tensor", "tvmscript", "synType"),
        ("f'x'", "tvmscript", "synString"),
        ("1_0.5e-3", "tvmscript", "synNumber"),
        ("defs", "tvmscript", ""),
        ("match?", "relay", "synKeyword"),
        ("@f.g?", "relay", "synName"),
        ("%x.0", "relay", ""),
        ("float32x4", "relay", "synType"),
        ("2.5e-3f32", "relay", "synNumber"),
        ("// x", "relay", "synComment"),
    ],
)
def test_a_token_has_its_look(text: str, language: Language, syntax: str) -> None:
    ((token,),) = tokenize(text, language)
    assert (token.text, token.syntax) == (text, syntax)


def test_python_and_the_browser_cut_alike(tmp_path: Path) -> None:
    assert (GENERATED / "grammar.ts").read_text(encoding="utf-8") == files()["grammar.ts"]
    if not can_build():
        return
    bundle, asked = tmp_path / "tokens.mjs", tmp_path / "texts.json"
    asked.write_text(json.dumps(texts()), encoding="utf-8")
    options = ("--bundle", "--format=esm", "--platform=node", "--loader:.css=text", f"--outfile={bundle}")
    subprocess.run((ESBUILD, TOOL, *options, "--log-level=warning"), cwd=ROOT, check=True)
    ran = subprocess.run(("node", bundle, asked), capture_output=True, check=True, encoding="utf-8")
    for (text, language), lines in zip(texts(), json.loads(ran.stdout), strict=True):
        ours = [[[token.text, token.syntax] for token in line] for line in tokenize(text, language)]
        assert lines == ours, text[:200]
