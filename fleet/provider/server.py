"""The plugin's process: listens on a free port of this machine, prints it, and ends with the engine that started it.

We are a process group of our own, which a person's Ctrl-C doesn't reach: then the engine says Cancel. A SIGINT comes
from the engine when it is done with us; who doesn't end at once is waited for, five seconds. An engine that is killed
says nothing: without it there is nobody to note what we do, so we end when our parent is no longer there.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc

from fleet.provider.proto import provider_pb2_grpc
from fleet.provider.servicer import OpenPorts, Provider

WORKERS = 64  # as many as the engine may ask side by side (`--parallel`)
PARENT_LOOK_SECONDS = 0.5
ENDING_SECONDS = 5.0  # for what runs to end where it can
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def serve(open_ports: OpenPorts, version: str) -> int:
    """Serves until the engine is done with us. `open_ports` gives the resources their world when they first need it."""
    parent = os.getppid()
    ended = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ended.set())
    provider = Provider(open_ports, version, os.environ)
    server = grpc.server(ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="engine"), options=UNLIMITED)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)  # type: ignore[no-untyped-call]  # generated
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while os.getppid() == parent and not ended.wait(PARENT_LOOK_SECONDS):
        pass
    provider.interrupt()
    server.stop(grace=ENDING_SECONDS).wait()
    return 0
