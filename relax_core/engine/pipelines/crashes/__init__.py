"""Why the compiler that was recorded stopped, in a pass, behind them or in a run, as far as the module tells."""
