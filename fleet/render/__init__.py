"""Model -> text, tables and JSON; pure.

Here: how things are said. Not here: what is decided. One reason: every command says the same thing in the same words.
"""
