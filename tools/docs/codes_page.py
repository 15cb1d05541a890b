"""The page of all diagnostics: each code with its paragraph, a program that has it, and that program mended."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from relax_core.codes import CODES
from relax_core.engine.documents.paragraphs import Paragraph, paragraph_of

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PA": "Reading TVMScript",
        "RL": "Reading Relay text",
        "RS": "Names",
        "TY": "Types of Relax and TIR",
        "RY": "Types of Relay",
        "WF": "Well-formedness",
        "PS": "Passes",
        "PT": "Patterns",
        "RW": "Rewriting by patterns",
        "BY": "Compiler regions",
        "DV": "Devices",
        "BC": "Bytecode",
        "VM": "Running",
        "JT": "Kernels",
        "GP": "Programs of a GPU, simulated",
        "EN": "The engine",
        "PL": "Recorded pipelines and runs",
    }
)
_INTRODUCTION = """# Diagnostics

Made of the table of codes. A message has a code of two letters and three digits, the place, what was expected and
found, and a hint. In the app the code of a message opens its paragraph. A code is never given to something else. Lines
that end in `#! CODE` or `//! CODE` are those that have it.
"""


def codes_page() -> str:
    """Return the page."""
    lines = [_INTRODUCTION]
    # A kind that has no title yet stands last, under its letters.
    kinds = {**_KINDS, **{code[:2]: code[:2] for code in CODES if code[:2] not in _KINDS}}
    for kind, title in kinds.items():
        lines.append(f"## {title}\n")
        for code in sorted(CODES):
            if code.startswith(kind):
                found = paragraph_of(code)
                assert found is not None, "every code has a paragraph"
                lines += _paragraph(found)
    return "\n".join(lines)


def _paragraph(found: Paragraph) -> Iterator[str]:
    yield f"### {found.code}\n"
    yield f"{as_markdown(found.text)}\n"
    if not found.sample:
        return
    lexer = "text" if found.sample.endswith(".relay") else "python"
    yield f"`samples/{found.sample}` has it:\n"
    yield f"```{lexer}\n{body(found.failing)}\n```\n"
    if found.mended:
        yield "Mended:\n"
        yield f"```{lexer}\n{body(found.mended)}\n```\n"


def as_markdown(text: str) -> str:
    """Return the plain text of a paragraph so that nothing in it is a mark of Markdown."""
    return "".join(f"\\{character}" if character in "*_<>[]`|$#" else character for character in text)


def body(text: str) -> str:
    """Return a sample without its header and the lines that import."""
    lines = text.splitlines()
    kept = [line for line in lines if not line.startswith(("# title", "# shows", "# source", "// title", "// shows"))]
    kept = [line for line in kept if not line.startswith(("from tvm", "import tvm", "// source"))]
    return "\n".join(kept).strip("\n")
