"""Messages from and to the judge: frames as src/base/channel.cpp makes them, with JSON inside."""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from typing import Any

_HEADER = struct.Struct("<II")
_MARK = 0x31434C43
_AWAKE_SECONDS = 0.02  #: a process that just slept is slower for a while

_select, _now = select.select, time.monotonic


class Channel:
    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)

    def receive(self, awake: bool = False) -> dict[str, Any] | None:
        """None when the judge is gone. `awake`: a request follows soon, so do not sleep."""
        if awake:
            self._wait_awake()
        header = self._read(_HEADER.size)
        if header is None:
            return None
        mark, size = _HEADER.unpack(header)
        body = self._read(size) if mark == _MARK else None
        return None if body is None else json.loads(body)

    def send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self._socket.sendall(_HEADER.pack(_MARK, len(body)) + body)

    def _wait_awake(self) -> None:
        end = _now() + _AWAKE_SECONDS
        while _now() < end:
            if _select([self._socket], [], [], 0)[0]:
                return

    def _read(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)
