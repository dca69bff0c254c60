"""fleet: the whole life of a fleet of accelerator nodes, as code.

The layers, bottom to top (import-linter holds them):
errors, facts, model, lifecycle, readers, health, feasibility, planning, spec, render, ports, adapters, provider,
components, execution, sim, lab, web, app, cli.
"""
