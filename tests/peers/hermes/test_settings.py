"""The plugin's settings: how the service is reached, and that what cannot work is said at the start."""

from __future__ import annotations

import pathlib

import pytest
from elbowroom_hermes import Settings

AWAY = "elbowroom.example:50051"


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"ELBOWROOM_TOKEN": "", "ELBOWROOM_CA_FILE": "", "ELBOWROOM_INSECURE_TOKEN": ""},
        {"ELBOWROOM_TOKEN": "secret"},
        {"ELBOWROOM_TOKEN": "", "ELBOWROOM_ADDR": AWAY},
        {"ELBOWROOM_TOKEN": "secret", "ELBOWROOM_ADDR": AWAY, "ELBOWROOM_CA_FILE": "system"},
        {"ELBOWROOM_TOKEN": "secret", "ELBOWROOM_ADDR": AWAY, "ELBOWROOM_CA_FILE": "PEM"},
        {"ELBOWROOM_TOKEN": "secret", "ELBOWROOM_ADDR": AWAY, "ELBOWROOM_INSECURE_TOKEN": "true"},
        {"ELBOWROOM_ADDR": AWAY, "ELBOWROOM_CLIENT_CERT_FILE": "PEM", "ELBOWROOM_CLIENT_KEY_FILE": "PEM"},
    ],
)
def test_what_reaches_a_service(environment: dict[str, str], tmp_path: pathlib.Path) -> None:
    pem = tmp_path / "some.pem"
    pem.write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    environment = {name: str(pem) if value == "PEM" else value for name, value in environment.items()}
    settings = Settings.from_environment(environment)
    settings.connect().close()
    assert settings.token == environment.get("ELBOWROOM_TOKEN", "")


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ELBOWROOM_TOKEN": "secret", "ELBOWROOM_ADDR": AWAY}, "in the open.*ELBOWROOM_CA_FILE"),
        ({"ELBOWROOM_TOKEN": "secret\n"}, "no header"),
        ({"ELBOWROOM_TOKEN": "secret", "ELBOWROOM_CA_FILE": "/nowhere.pem"}, "/nowhere.pem"),
        ({"ELBOWROOM_CLIENT_CERT_FILE": "/own.pem"}, "go together"),
        ({"ELBOWROOM_INSECURE_TOKEN": "perhaps"}, "neither true nor false"),
        ({"ELBOWROOM_THRESHOLD": "2"}, "not above 0"),
    ],
)
def test_what_cannot_work_is_said_at_the_start(environment: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){said}") as caught:
        Settings.from_environment(environment)
    assert "secret" not in str(caught.value)
