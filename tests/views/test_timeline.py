"""The timeline of a run, downloaded from the profile of the Run page."""

import json

import pytest
from playwright.sync_api import Page


@pytest.mark.browser
def test_a_timeline_is_downloaded_from_the_profile(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/mlp.py")
    page.get_by_role("button", name="Profile").click()
    page.get_by_role("button", name="Write a timeline for Perfetto").click()
    with page.expect_download() as got:
        page.get_by_role("button", name="Download the timeline").click()
    found = json.loads(got.value.path().read_bytes())
    assert {event["ph"] for event in found["traceEvents"]} == {"M", "X"}
