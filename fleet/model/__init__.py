"""Frozen data that everything else speaks in.

Here: the words of the product as types. Not here: behaviour beyond validation, I/O, clocks. One reason: what a
word means is said once, and a value can be shared between threads, tests and the simulator without care.
"""
