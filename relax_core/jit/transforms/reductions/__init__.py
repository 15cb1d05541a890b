"""Reductions without reuse of their operands: vectorised along columns, along one row, or across rows."""
