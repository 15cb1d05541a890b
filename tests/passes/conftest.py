"""Tests of passes run what a pass made and what it was made of, whose kernels are the same as a rule."""

import os
from collections.abc import Iterator

import pytest

from relax_core.jit.compilation.cache_directory import VARIABLE


@pytest.fixture(scope="session")
def kernel_directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where kernels are kept that this run of the tests compiled, by whichever of its processes."""
    own = tmp_path_factory.getbasetemp()
    return str((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "kernels")


@pytest.fixture(scope="module")
def kept_kernels(kernel_directory: str) -> Iterator[None]:
    """Compile a kernel once; no worker may start meanwhile, which would keep kernels for the tests behind as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, kernel_directory)
        yield
