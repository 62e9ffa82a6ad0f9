"""Messages between processes of this program: a length, and so many bytes, through a pipe."""

from __future__ import annotations

import os
import struct

_LENGTH = struct.Struct("Q")


def send(end: int, data: bytes) -> None:
    """Write a message to a pipe; OSError if nobody is left to read it."""
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(end, view) :]


def receive(end: int) -> bytes | None:
    """The next message of a pipe; None when the other side is closed, also in the middle of a message."""
    head = _exactly(end, _LENGTH.size)
    return None if head is None else _exactly(end, _LENGTH.unpack(head)[0])


def _exactly(end: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        chunk = os.read(end, min(size - len(parts), CHUNK))
        if not chunk:
            return None
        parts += chunk
    return bytes(parts)


CHUNK = 2**20
"""Bytes that are read at once: Linux lets a pipe hold no more."""
