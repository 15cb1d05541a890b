"""What tests of pages share: a page without a browser, what its components were sent, and the rules of a whole page."""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from streamlit.testing.v1 import AppTest

from tests.browser import Mode, rest, wait_for
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import Selection

Axe: Any = import_module("axe_playwright_python.sync_playwright").Axe
"""The rules of accessibility; their package has no types."""
REPOSITORY = Path(__file__).resolve().parents[2]
ROW = 45
"""Pixels of a bar of one row."""
NEXT_ROW = 42
"""Pixels of each further row."""
WIDTHS = (390, 768, 1024)
MOST_ROWS = {390: 3, 768: 1, 1024: 1}
Sent = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def opened(page: str, selection: Selection) -> AppTest:
    """Run the page of that name at the address of `selection`; it must not raise."""
    app = AppTest.from_file(str(REPOSITORY / page_file(page)), default_timeout=120)
    arrive(app, to_address(selection))
    assert not app.exception, [item.value for item in app.exception]
    return app


def arrive(app: AppTest, address: Mapping[str, str]) -> None:
    """Run the page of `app` as for a tab that comes to it from another page, by `address`."""
    app.query_params.clear()
    for name, value in address.items():
        app.query_params[name] = value
    app.session_state["address.page"] = "another"
    app.run()


def sent_to(app: AppTest) -> Sent:
    """Return view and model that each component of a page was sent, by its name; all have the palette as well."""
    views: dict[str, dict[str, Any]] = {}
    models: dict[str, dict[str, Any]] = {}
    for item in app.get("bidi_component"):
        name = item.proto.component_name
        if name == "relaxscope_palette":
            continue
        head, body = map(json.loads, item.proto.bytes.split(b"\n", 1))
        # What a component is sent apart has no view of its own.
        views |= {name: head["view"]} if "view" in head else {}
        models[name] = {**models.get(name, {}), **body}
    return {name: (view, models[name]) for name, view in views.items()}


_NOTHING_MOVES = """() => document.getAnimations().every((item) =>
  item.playState !== "running" || item.effect.getComputedTiming().endTime === Infinity)"""
"""No animation or transition runs, but for those without an end."""


def assert_accessible(page: Page, width: int, mode: Mode = "light") -> None:
    """Check that a page at rest in a window of `width` pixels fits into it, and breaks no serious rule of axe."""
    rest(page)
    assert_readable(page, width, mode)


def assert_readable(page: Page, width: int, mode: Mode = "light") -> None:
    """Check that a page in a window of `width` pixels does not scroll sideways and breaks no serious rule of axe.

    The dark mode changes colours alone, so that only their contrast is looked at.
    """
    # The tip of what is under the mouse comes half a second later, and is faint while it fades in.
    page.mouse.move(0, 0)
    wait_for(page, _NOTHING_MOVES)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    rules = {"runOnly": ["color-contrast"]} if mode == "dark" else {}
    # Of rules that are kept, axe would describe every element.
    found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    serious = [item for item in found if item["impact"] in ("serious", "critical")]
    assert not serious, [(item["id"], item["nodes"][0]["html"][:120]) for item in serious]


def assert_fits(page: Page, *, has_panes: bool) -> None:
    """Check that the bar takes few rows in windows of every width, and that panes end above the status line."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        # A component measures the bar when it is laid out anew.
        wait_for(
            page,
            "most => document.querySelector('.st-key-ctx').offsetHeight <= most",
            arg=ROW + NEXT_ROW * (MOST_ROWS[width] - 1),
        )
        wait_for(
            page,
            """() => [...document.querySelectorAll(".st-key-ctx :is(button, input)")]
                 .map((item) => item.getBoundingClientRect())
                 .every((box) => !box.width || (box.left >= 0 && box.right <= innerWidth))""",
        )
        if width > 640 and has_panes:
            bar = "document.querySelector('.st-key-ctx').offsetHeight + 'px'"
            wait_for(page, f"document.documentElement.style.getPropertyValue('--bar') === {bar}")
            main = "document.querySelector('[data-testid=stMain]')"
            wait_for(page, f"(it => it.scrollHeight - it.clientHeight <= 1)({main})")
        wait_for(page, "width => document.documentElement.scrollWidth <= width", arg=width)


def labels(app: AppTest, kind: str) -> list[str]:
    """Return the labels of the elements of a kind that AppTest has no class for, such as `download_button`."""
    return [str(getattr(item, "label", "")) for item in app.get(kind)]
