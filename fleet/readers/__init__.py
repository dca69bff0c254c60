"""Readers: what vendors print, turned into findings, gaps and facts.

Here live pure functions, one module per tool family. No I/O, no clock, no policy: a reader says what a text proves
and what it does not. It never raises on strange text; what it could not read is a `Gap`, because unknown is neither
healthy nor sick.
"""
