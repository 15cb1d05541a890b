"""What the tests of kernels share: a look at which calls go through Python."""

from typing import Any

import pytest

from relax_core.jit.calls.arguments import Signature


@pytest.fixture
def slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Collect the arguments that reach Python's way into a kernel."""
    calls: list[object] = []
    bind = Signature.bind

    def counted(self: Signature, args: Any) -> Any:
        calls.append(args)
        return bind(self, args)

    monkeypatch.setattr(Signature, "bind", counted)
    return calls
