"""What a notebook keeps of a cell: a page in a frame and the text, both of a bounded size."""

from html.parser import HTMLParser

import relax_core as rc
from relax_core.engine.notebook.still import PAGE_BYTES, Still
from relax_core.engine.notebook.subject import of_module
from tests.engine.programs import SAMPLES, SMALL
from tests.views.hostile import hostile_texts
from tests.views.test_hostile_names import relax_program


class Frame(HTMLParser):
    """Reads the frame of a cell's HTML, and the elements beside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.frame: dict[str, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "iframe":
            self.frame = dict(attrs)

    @property
    def page(self) -> str:
        return self.frame["srcdoc"] or ""


def shown(text: str, name: str = "m.py") -> dict[str, str]:
    return Still(of_module(rc.parse(text, name))).forms()


def test_a_module_is_a_page_in_a_frame_and_its_text() -> None:
    bundle = shown(SMALL)
    found = Frame(bundle["text/html"])
    assert found.tags == ["iframe", "details", "summary", "pre"]
    assert found.frame["sandbox"] == "allow-scripts allow-downloads"
    assert "rc.show(module)" in found.page
    assert found.page.count('<div class="graph">') == 1
    assert bundle["text/plain"] == SMALL


def test_a_page_that_would_be_too_large_says_what_it_leaves_out() -> None:
    text = (SAMPLES / "relay" / "map_twelve_times.relay").read_text(encoding="utf-8")
    subject = of_module(rc.parse(text, "map.relay"))
    whole, limit = subject.page(PAGE_BYTES), 100_000
    part = subject.page(limit)
    assert limit < len(whole.encode()) <= PAGE_BYTES
    assert "Nothing was left out" in whole
    assert len(part.encode()) <= limit
    assert "Nothing was left out" not in part
    assert "Left out, for the file would be too large: " in part


def test_a_long_text_is_shortened_and_says_by_how_much() -> None:
    lines = "".join(f"        v{n} = R.add(x, x)\n" for n in range(500))
    text = SMALL.partition("    @R.function")[0] + (
        "    @R.function\n    def main(x: R.Tensor((2,), 'float32')) -> R.Tensor((2,), 'float32'):\n"
        f"{lines}        return x\n"
    )
    plain = shown(text)["text/plain"].splitlines()
    assert len(plain) == 401
    assert plain[-1] == f"… {len(text.splitlines()) - 400} more lines"


def test_nothing_of_a_program_leaves_its_frame() -> None:
    name = " ".join(hostile_texts("https://elsewhere.example"))
    assert Frame(shown(relax_program(), name)["text/html"]).tags == ["iframe", "details", "summary", "pre"]
