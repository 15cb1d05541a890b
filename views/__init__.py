"""The pages of the app: file and title, in the order of the navigation; the first one opens."""

SOURCE = "views/pages/source.py"
PASSES = "views/pages/passes.py"
RUN = "views/pages/run.py"

PAGES = ((SOURCE, "Source"), (PASSES, "Passes"), (RUN, "Run"))
