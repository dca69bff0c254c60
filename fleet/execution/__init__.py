"""The imperative shell: observe, decide (by the core), begin steps, record their ends.

Here: the order in which ports are called, and what must be durable before what. Not here: choices of policy; if an
`if` about policy is needed here, the plan was not specific enough. One reason: first run, retry, recovery after a crash
and failover are the same path.
"""
