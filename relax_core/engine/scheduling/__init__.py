"""Schedules that are written by hand: applied to a kernel step by step, checked by value and timed."""
