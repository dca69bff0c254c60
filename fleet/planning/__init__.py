"""Whether to touch a node now: the decision, pure.

Here: what each node wants, the one count of capacity over all purposes, waves and gates of rollouts, the breaker, and
`plan`, which joins them. Not here: what is wrong with a node (`health`), how far an order got (`lifecycle`), how a verb
is done (`execution`). One reason: the same inputs give the same plan, in production, in tests and in the simulator.
"""
