"""Programs that are sent to a machine over SSH and run there by its own `python3`.

Here: small scripts of the standard library (Python 3.8 or later) that read one JSON request and print one JSON answer.
Not here: anything that fleet imports. One reason: no command line is built from data, and time limits hold there too.
"""
