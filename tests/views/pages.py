"""What tests of pages share: a page without a browser, what its components were sent, and the rules of a whole page."""

import json
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from streamlit.testing.v1 import AppTest

from tests.browser import Mode, rest
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import Selection

REPOSITORY = Path(__file__).resolve().parents[2]
Sent = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def opened(page: str, selection: Selection) -> AppTest:
    """Run the page of that name at the address of `selection`; it must not raise."""
    app = AppTest.from_file(str(REPOSITORY / page_file(page)), default_timeout=120)
    for name, value in to_address(selection).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, [item.value for item in app.exception]
    return app


def sent_to(app: AppTest) -> Sent:
    """Return view and model that each component of a page was sent, by the component's name."""
    views: dict[str, dict[str, Any]] = {}
    models: dict[str, dict[str, Any]] = {}
    for item in app.get("bidi_component"):
        name = item.proto.component_name
        head, body = map(json.loads, item.proto.bytes.split(b"\n", 1))
        # What a component is sent apart has no view of its own.
        views |= {name: head["view"]} if "view" in head else {}
        models[name] = {**models.get(name, {}), **body}
    return {name: (view, models[name]) for name, view in views.items()}


def assert_accessible(page: Page, width: int, mode: Mode = "light") -> None:
    """Check that a page in a window of `width` pixels does not scroll sideways and breaks no serious rule of axe.

    The dark mode changes colours alone, so that only their contrast is looked at.
    """
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    options = {"runOnly": ["color-contrast"]} if mode == "dark" else None
    found = Axe().run(page, options=options).response["violations"]
    serious = [item for item in found if item["impact"] in ("serious", "critical")]
    assert not serious, [(item["id"], item["nodes"][0]["html"][:120]) for item in serious]
