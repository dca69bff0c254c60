"""How a node moves: the tables, and the folds that read them.

Here: which verbs make up the way of each purpose, and how far an order got, judged by what the node shows. Not here:
whether the next verb is allowed now (`planning`), or how it is done (`execution`). One reason: the way of a node is
data that a reader can see whole.
"""
