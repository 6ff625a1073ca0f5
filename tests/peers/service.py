"""A running Elbowroom, which tests stop and start again at the same addresses."""

from __future__ import annotations

import os
import subprocess


class Service:
    """The binary that ELBOWROOM_BIN names, serving on free ports of loopback."""

    def __init__(self, *flags: str) -> None:
        self._flags = flags
        self.grpc = self.http = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        """Start the server, at its earlier addresses if it had some."""
        self._process = subprocess.Popen(
            [os.environ["ELBOWROOM_BIN"], "serve", "--grpc-addr", self.grpc, "--http-addr", self.http, "--admin-addr", "", *self._flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("gRPC: "):
                self.grpc = line.removeprefix("gRPC: ").strip()
            if line.startswith("HTTP/JSON: "):
                self.http = line.removeprefix("HTTP/JSON: ").strip()
                return
        raise AssertionError("elbowroom serve ended without saying its addresses")

    def stop(self) -> None:
        """Stop the server; nothing happens when it is stopped."""
        self._process.terminate()
        if self._process.stdout is not None:
            self._process.stdout.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
