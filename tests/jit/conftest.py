"""What the tests of kernels share: a look at which calls go through Python."""

from typing import Any

import pytest

from relax_core.jit.kernel import Kernel


@pytest.fixture
def slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Collect the arguments that reach Python's way into a kernel."""
    calls: list[object] = []
    bind = Kernel.bind

    def counted(self: Kernel, args: Any, *rest: Any) -> Any:
        calls.append(args)
        return bind(self, args, *rest)

    monkeypatch.setattr(Kernel, "bind", counted)
    return calls
