"""Where the service is and when to call it, from the environment: Hermes has no settings for its plugins' engines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from elbowroom import Client, InvalidRequest


@dataclass(frozen=True)
class Settings:
    """What the engine needs to know.

    Attributes:
        target: Address of the service. ``ELBOWROOM_ADDR``, default ``127.0.0.1:50051``.
        ca_file: TLS with the authorities in this file; ``"system"``: with the system's. ``ELBOWROOM_CA_FILE``, default no TLS.
        client_cert_file, client_key_file: A certificate of one's own with its key, in PEM: mutual TLS.
            ``ELBOWROOM_CLIENT_CERT_FILE`` and ``ELBOWROOM_CLIENT_KEY_FILE``, default none.
        token: Bearer token. ``ELBOWROOM_TOKEN``, default none. Without TLS it goes to this machine only.
        insecure_token: The network encrypts by itself, so that the token may go without TLS. ``ELBOWROOM_INSECURE_TOKEN``,
            ``true`` or ``false`` (default).
        threshold: Share of the window from which on Hermes asks for a compression. ``ELBOWROOM_THRESHOLD``, default 0.50.
        timeout: Seconds that a compression may take. ``ELBOWROOM_TIMEOUT``, default 120: a summarizing model may need them.
        pause: Seconds without a call after one that failed. ``ELBOWROOM_PAUSE``, default 60.
    """

    target: str = "127.0.0.1:50051"
    ca_file: str = ""
    client_cert_file: str = ""
    client_key_file: str = ""
    token: str = ""
    insecure_token: bool = False
    threshold: float = 0.50
    timeout: float = 120
    pause: float = 60

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            ValueError: A number is none, the threshold is not above 0 and up to 1, or the connection cannot be secured as told.
        """
        threshold = float(environment.get("ELBOWROOM_THRESHOLD", cls.threshold))
        if not 0 < threshold <= 1:
            raise ValueError(f"ELBOWROOM_THRESHOLD: {threshold} is not above 0 and up to 1")
        insecure_token = environment.get("ELBOWROOM_INSECURE_TOKEN") or "false"
        if insecure_token not in ("true", "false"):
            raise ValueError(f"ELBOWROOM_INSECURE_TOKEN: {insecure_token!r} is neither true nor false")
        settings = cls(
            target=environment.get("ELBOWROOM_ADDR", cls.target),
            ca_file=environment.get("ELBOWROOM_CA_FILE", cls.ca_file),
            client_cert_file=environment.get("ELBOWROOM_CLIENT_CERT_FILE", cls.client_cert_file),
            client_key_file=environment.get("ELBOWROOM_CLIENT_KEY_FILE", cls.client_key_file),
            token=environment.get("ELBOWROOM_TOKEN", cls.token),
            insecure_token=insecure_token == "true",
            threshold=threshold,
            timeout=float(environment.get("ELBOWROOM_TIMEOUT", cls.timeout)),
            pause=float(environment.get("ELBOWROOM_PAUSE", cls.pause)),
        )
        if bool(settings.client_cert_file) != bool(settings.client_key_file):
            raise ValueError("ELBOWROOM_CLIENT_CERT_FILE and ELBOWROOM_CLIENT_KEY_FILE go together")
        try:
            settings.connect().close()
        except (InvalidRequest, OSError) as error:  # here and not at the first compression
            raise ValueError(f"{error}; see ELBOWROOM_CA_FILE, ELBOWROOM_TOKEN and ELBOWROOM_INSECURE_TOKEN") from error
        return settings

    def connect(self) -> Client:
        """Return a client; it connects with its first call.

        Raises:
            InvalidRequest: The token would travel in the open, or no header can carry it.
            OSError: A file cannot be read.
        """
        return Client(
            self.target,
            tls=self.ca_file == "system" or self.ca_file or False,
            client_cert=(self.client_cert_file, self.client_key_file) if self.client_cert_file else None,
            token=self.token,
            insecure_token=self.insecure_token,
            timeout=self.timeout,
        )
