"""Plugin for Hermes Agent: the context engine ``elbowroom``."""

from __future__ import annotations

from typing import Any

from elbowroom_hermes.engine import ElbowroomEngine
from elbowroom_hermes.settings import Settings

__all__ = ["ElbowroomEngine", "Settings", "register"]


def register(ctx: Any) -> None:
    """Register the engine; Hermes calls this when it loads the plugin."""
    ctx.register_context_engine(ElbowroomEngine(Settings.from_environment()))
