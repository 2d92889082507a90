"""A wire that remembers: all that passes between processes and a scheduler, both ways."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Wire:
    """Passes bytes on to an address, and keeps them.

    Attributes
    ----------
    address : str
        Where it listens.
    passed : list of bytearray
        What passed, one a connection and direction.
    """

    address: str
    passed: list[bytearray] = field(default_factory=list)

    def saw(self, what: bytes) -> bool:
        """Tell whether something passed."""
        return any(what in bytes(one) for one in self.passed)


@contextlib.contextmanager
def tapped(address: str) -> Iterator[Wire]:
    """Listen in front of an address such as tcp://127.0.0.1:8786."""
    host, port = address.removeprefix("tcp://").rsplit(":", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        wire = Wire(f"tcp://127.0.0.1:{server.getsockname()[1]}")

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    near, _ = server.accept()
                    far = socket.create_connection((host, int(port)))
                    for source, sink in ((near, far), (far, near)):
                        threading.Thread(target=pass_on, args=(source, sink), daemon=True).start()

        def pass_on(source: socket.socket, sink: socket.socket) -> None:
            kept = bytearray()
            wire.passed.append(kept)
            with contextlib.suppress(OSError):
                while data := source.recv(1 << 16):
                    kept.extend(data)
                    sink.sendall(data)
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

        threading.Thread(target=accept, daemon=True).start()
        yield wire
        server.shutdown(socket.SHUT_RDWR)
