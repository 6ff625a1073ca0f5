"""Where the service is and when to call it, from the environment: Hermes has no settings for its plugins' engines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from elbowroom import Client


@dataclass(frozen=True)
class Settings:
    """What the engine needs to know.

    Attributes:
        target: Address of the service. ``ELBOWROOM_ADDR``, default ``127.0.0.1:50051``.
        ca_file: TLS with the authorities in this file; ``"system"``: with the system's. ``ELBOWROOM_CA_FILE``, default no TLS.
        token: Bearer token. ``ELBOWROOM_TOKEN``, default none.
        threshold: Share of the window from which on Hermes asks for a compression. ``ELBOWROOM_THRESHOLD``, default 0.50.
        timeout: Seconds that a compression may take. ``ELBOWROOM_TIMEOUT``, default 120: a summarizing model may need them.
        pause: Seconds without a call after one that failed. ``ELBOWROOM_PAUSE``, default 60.
    """

    target: str = "127.0.0.1:50051"
    ca_file: str = ""
    token: str = ""
    threshold: float = 0.50
    timeout: float = 120
    pause: float = 60

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            ValueError: A number is none, or the threshold is not above 0 and up to 1.
        """
        threshold = float(environment.get("ELBOWROOM_THRESHOLD", cls.threshold))
        if not 0 < threshold <= 1:
            raise ValueError(f"ELBOWROOM_THRESHOLD: {threshold} is not above 0 and up to 1")
        return cls(
            target=environment.get("ELBOWROOM_ADDR", cls.target),
            ca_file=environment.get("ELBOWROOM_CA_FILE", cls.ca_file),
            token=environment.get("ELBOWROOM_TOKEN", cls.token),
            threshold=threshold,
            timeout=float(environment.get("ELBOWROOM_TIMEOUT", cls.timeout)),
            pause=float(environment.get("ELBOWROOM_PAUSE", cls.pause)),
        )

    def connect(self) -> Client:
        """Return a client; it connects with its first call."""
        tls: bool | str = self.ca_file == "system" or self.ca_file or False
        return Client(self.target, tls=tls, token=self.token or None, timeout=self.timeout)
