"""The form of what is shown that needs no kernel: a page in a frame of its own, and text."""

from typing import Final, Protocol

from relax_core.diagnostics import plural
from relax_core.present.escape import attribute, markup

PAGE_BYTES: Final = 400_000
"""What the page of one cell may take in the file of a notebook."""
_LINES: Final = 400
_HEIGHT: Final = 480


class Pictured(Protocol):
    """What has a form that needs no kernel."""

    @property
    def text(self) -> str:
        """What is shown where there is room for text alone."""
        ...

    def page(self, limit_bytes: int) -> str:
        """Return a page of HTML of at most that size, which says what it leaves out."""
        ...


class Still:
    """What is shown, without a kernel: the page of a report in a frame that nothing leaves, and the text of the module.

    A host that lets no frame through shows the text, which opens below it.
    """

    def __init__(self, subject: Pictured) -> None:
        self._subject = subject

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return self.forms()

    def forms(self) -> dict[str, str]:
        """Return the forms among which a notebook chooses, by their types."""
        text = shortened(self._subject.text)
        return {"text/html": framed(self._subject.page(PAGE_BYTES), text), "text/plain": text}

    def __repr__(self) -> str:
        return shortened(self._subject.text)


def framed(page: str, text: str) -> str:
    """Write a page as a frame whose script reaches nothing of the notebook, and a text that opens below it."""
    look = f"width:100%;height:{_HEIGHT}px;border:1px solid #8886;border-radius:6px;box-sizing:border-box"
    frame = (
        f'<iframe sandbox="allow-scripts allow-downloads" loading="lazy" title="RelaxScope" style="{look}" '
        f'srcdoc="{attribute(page)}"></iframe>'
    )
    lines = "\n".join(map(markup, text.split("\n")))
    return f"{frame}<details><summary>Text</summary><pre>{lines}</pre></details>"


def shortened(text: str) -> str:
    """Return the first lines of a text, and say how many there are more."""
    lines = text.splitlines()
    more = len(lines) - _LINES
    return text if more <= 0 else "\n".join((*lines[:_LINES], f"… {plural(more, 'more line')}"))
