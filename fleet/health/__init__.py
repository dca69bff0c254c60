"""What is wrong with nodes, never what to do about it.

Here: the judging of signals into cases. Not here: remedies and permission (`planning`), parsing (`readers`). One
reason: a judgement can be shown, tested and disputed without touching a node.
"""
