"""The Pulumi provider `fleet`: what makes declared nodes exist.

Here: one file per resource, and the gRPC servicer that speaks to the engine. Not here: libraries of foreign systems
(the resources get ports as arguments), nor any choice of when a node may be touched. One reason: Pulumi owns what
exists, and nothing that runs on it.
"""
