"""The pages of the app: file and title, in the order of the navigation; the first one opens."""

SOURCE = "views/pages/source.py"
PASSES = "views/pages/passes.py"
PARTITION = "views/pages/partition.py"
DEVICES = "views/pages/devices.py"
RUN = "views/pages/run.py"
KERNELS = "views/pages/kernels.py"
OPERATORS = "views/pages/operators.py"
LEARN = "views/pages/learn.py"

PAGES = (
    (SOURCE, "Source"),
    (PASSES, "Passes"),
    (PARTITION, "Partition"),
    (DEVICES, "Devices"),
    (RUN, "Run"),
    (KERNELS, "Kernels"),
    (OPERATORS, "Operators"),
    (LEARN, "Learn"),
)
