"""The control array: what the instrumented function is told, and what it tells, as 64-bit words.

Behind the words named here stand the values that loops are looked for at, and the slots of variables.
"""

from typing import Final

MODE, CLOCK, TARGET, SITE, SEARCH, AFTER, FOUND, FIRST, END, IS_NEGATED, QUERY = range(11)
"""MODE: whether it runs or goes on; CLOCK: how many statements have run; TARGET: before which one it stops.

SITE: the number of the statement that would run next. SEARCH: whether it looks for a statement, to stop there or to
note the last one in FOUND; what is looked for runs behind AFTER, is a site from FIRST to before END within the values
that are looked for, or none such with IS_NEGATED. QUERY: the first of the words that tell what a probe looks for.
"""
QUERY_COUNT: Final = 18
OWN: Final = QUERY + QUERY_COUNT
"""The first word that a function takes for its loops and variables."""

RUNNING, RESUMING, STOPPED = range(3)
NO_SEARCH, TO_FIRST, TO_LAST = range(3)
ANY: Final = -(1 << 63)
"""Any value of a loop is looked for."""
NEVER: Final = (1 << 63) - 1
