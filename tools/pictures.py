"""Take the pictures of the README from the app: `python -m tools.pictures`; they are looked at before they are kept.

Four screens as PNG, and one run that is stepped through as a GIF of few colours.
"""

import io
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.app_server import serve
from tests.browser import rest, started
from views import PAGES
from views.state.address import to_address
from views.state.selection import screen

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "pictures"
WIDTH: Final = 1440
HEIGHT: Final = 900
_COLOURS: Final = 64
_FRAME_MS: Final = 900
_LAST_FRAME_MS: Final = 2500
_SETTLED_MS: Final = 1500
"""After a step a value flashes for 600 ms, and a picture shows it when that is over."""

STILLS: Final[Mapping[str, tuple[str, Mapping[str, str | int]]]] = MappingProxyType(
    {
        "source": ("source", {"sample": "relax/mlp.py"}),
        "passes": ("passes", {"sample": "seeds/print_closure2_2026.py"}),
        "partition": ("partition", {"sample": "relay/conv_bn_relu.relay"}),
        "kernels": ("kernels", {"sample": "relax/mlp.py"}),
    }
)
"""A picture: the page and the screen that it shows."""
_STEPPED: Final[Mapping[str, str | int]] = MappingProxyType({"sample": "relax/fib.py", "time": 4})
_KEYS: Final = ("i", "n", "n", "n", "n", "i", "n", "b", "b")


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home)) as url,
        sync_playwright() as playwright,
        started(playwright) as browser,
    ):
        page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
        for name, (noun, fields) in STILLS.items():
            _open(page, url, noun, fields)
            (FOLDER / f"{name}.png").write_bytes(_small(page.screenshot()))
        _open(page, url, "run", _STEPPED)
        _write_frames(tuple(_frames(page)), FOLDER / "stepping.gif")
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def _open(page: Page, url: str, noun: str, fields: Mapping[str, str | int]) -> None:
    # The first page is the one of an address without a name.
    place = "" if noun == PAGES[0] else noun
    page.goto(f"{url}/{place}?{urlencode(to_address(screen(**fields)))}")
    rest(page)
    page.wait_for_timeout(_SETTLED_MS)
    rest(page)


def _frames(page: Page) -> Iterator[Image.Image]:
    """Give the screen before and after each step."""
    for key in ("", *_KEYS):
        if key:
            page.keyboard.press(key)
        page.wait_for_timeout(_SETTLED_MS)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        yield picture.resize((WIDTH * 3 // 4, HEIGHT * 3 // 4), Image.Resampling.LANCZOS)


def _write_frames(frames: tuple[Image.Image, ...], path: Path) -> None:
    """Write frames as a GIF, all with the colours of the first."""
    first = frames[0].quantize(_COLOURS)
    drawn = [first, *(frame.quantize(palette=first, dither=Image.Dither.NONE) for frame in frames[1:])]
    times = [_FRAME_MS] * (len(drawn) - 1) + [_LAST_FRAME_MS]
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)


def _small(picture: bytes) -> bytes:
    """Return a PNG of at most 256 colours, a third of the size."""
    made = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256).save(made, "PNG", optimize=True)
    return made.getvalue()


if __name__ == "__main__":
    main()
