"""Ports for servers of tests that cannot be handed a socket.

A port that the system picks is one that it also gives to connections: while a server starts, which may take half a
minute, a program nearby may be given it.  So we pick below those (`net.ipv4.ip_local_port_range`).
"""

from __future__ import annotations

import random
import socket

PORTS = range(12_000, 32_000)


def free_port() -> int:
    """One on which nobody listens."""
    rng = random.SystemRandom()  # workers, and tests that seed the other, would pick the same
    while True:
        port = rng.choice(PORTS)
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)):
                return port
