"""A home of its own for Hermes Agent, with the plugin enabled as documented; made before anything of Hermes is imported."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator

import pytest
from service import Service

_home = tempfile.TemporaryDirectory(prefix="hermes-")
HOME = pathlib.Path(_home.name)
SERVICE = Service()

os.environ.update(
    HERMES_HOME=str(HOME),
    HOME=str(HOME),
    NO_PROXY="127.0.0.1,localhost",
    ELBOWROOM_ADDR=SERVICE.grpc,
    ELBOWROOM_THRESHOLD="0.25",
    ELBOWROOM_PAUSE="0",
)
# The address of the model is given to the agent itself.
(HOME / "config.yaml").write_text(
    """\
model:
  default: local-model
  provider: custom
  context_length: 64000
context:
  engine: elbowroom
plugins:
  enabled: [elbowroom]
"""
)


@pytest.fixture
def service() -> Iterator[Service]:
    """Give the running service; a test that stops it need not start it again."""
    yield SERVICE
    SERVICE.stop()
    SERVICE.start()


@pytest.fixture
def home() -> pathlib.Path:
    return HOME


def pytest_sessionfinish() -> None:
    SERVICE.stop()
    _home.cleanup()
