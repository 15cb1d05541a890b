"""The machine: runs bytecode, records every event, and steps through what it recorded."""
