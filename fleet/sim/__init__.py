"""A fleet that does not exist, in virtual time.

Here: the truth of a made-up fleet (`world`), what happens to it (`physics`, `events`), fake ports onto it (`fakes`,
`ledger`, `engine`), the run (`run`), and stories about it with statements that are judged on the truth (`scenario`,
`statements`, `claims`). Not here: any decision. The core and the pass that decide are the very same that run on real
machines. One reason: what may never happen can be tried ten thousand times before it can happen once.
"""
