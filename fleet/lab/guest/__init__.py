"""STAND-INS that run inside the lab's machines, copied into their image; nothing of the product imports them.

They may import nothing but the standard library of the machine's own Python (3.11) and each other.
One reason to change: what firmware, kernel or a vendor's tool shows on a real node.
"""
