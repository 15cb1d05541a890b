"""All further inputs of operators that have kernels."""

from tests.ops.cases_basics import BASICS
from tests.ops.cases_elements import ELEMENTS
from tests.ops.cases_places import PLACES
from tests.ops.cases_windows import WINDOWS

MORE = (*BASICS, *ELEMENTS, *WINDOWS, *PLACES)
