"""Build the wheel: `pip install .` installs the app, its samples and its documents with the package."""

import shutil
from pathlib import Path
from typing import Final

from setuptools.command.build_py import build_py

_ROOT: Final = Path(__file__).resolve().parent.parent
_APP: Final = ("app.py", ".streamlit", "docs", "samples", "static", "views")
"""What `relax_core.engine.places` finds inside of an installed package."""


class BuildWithApp(build_py):
    """Copies what the app consists of into the package that is built."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            # The package stays where it is, beside the app.
            return
        target = Path(self.build_lib) / "relax_core" / "app"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in _APP:
            source = _ROOT / name
            if source.is_dir():
                shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.ts"))
            else:
                shutil.copy2(source, target / name)
