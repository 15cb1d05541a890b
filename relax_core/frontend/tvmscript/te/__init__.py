"""Read tensor expressions: the Python functions that `R.emit_te` names."""
