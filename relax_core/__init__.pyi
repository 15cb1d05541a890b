"""The public names of `relax_core`, for type checkers: `__init__.py` loads them when they are used."""

from relax_core.engine.api.notebooks import *
from relax_core.engine.api.patterns import *
from relax_core.engine.api.pipelines import *
from relax_core.engine.api.reports import *
from relax_core.engine.api.runs import *
from relax_core.engine.api.texts import *
from relax_core.engine.process import starting as starting

__all__: list[str]
