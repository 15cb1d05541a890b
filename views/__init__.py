"""The pages of the app, in the order of the navigation; the first one opens.

A page is the folder `views/pages/<noun>/`; its title and its address are the noun.
"""

PAGES = (
    "source",
    "passes",
    "pipeline",
    "partition",
    "devices",
    "run",
    "kernels",
    "operators",
    "classroom",
    "learn",
)
