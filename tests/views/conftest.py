"""Fixtures of the pages' tests."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from views.worker.replies import shared_replies


@pytest.fixture(scope="session", autouse=True)
def packages_and_scripts_read_once() -> Iterator[None]:
    """Keep for all runs what a server keeps: `AppTest` searches all packages for components and compiles each time."""
    with pytest.MonkeyPatch.context() as patched:
        scan = "streamlit.components.v2.manifest_scanner.scan_component_manifests"
        patched.setattr(scan, cache(manifest_scanner.scan_component_manifests))
        patched.setattr("streamlit.testing.v1.local_script_runner.ScriptCache", cache(ScriptCache))
        yield


@pytest.fixture(autouse=True)
def nothing_shared() -> None:
    """Begin each test as the first visitor of a server: no reply was given to another test."""
    shared_replies.cache_clear()
