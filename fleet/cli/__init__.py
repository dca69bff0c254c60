"""The commands, one file each: parse, call `app`, render, exit.

Not here: decisions, or any foreign system. One reason: a command is found by its name.
"""
