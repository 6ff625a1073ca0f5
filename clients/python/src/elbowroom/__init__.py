"""Elbowroom gives agents elbow room in their context window.

``Client`` and ``AsyncClient`` call the service with the provider's own request bodies; ``Conversation`` and ``AsyncConversation``
keep a conversation in shape over its turns.
"""

from elbowroom.aio import AsyncClient
from elbowroom.client import Client
from elbowroom.conversation import AsyncConversation, Conversation
from elbowroom.errors import (
    DeadlineExceeded,
    ElbowroomError,
    Internal,
    InvalidRequest,
    Overloaded,
    PermissionDenied,
    Refused,
    Unauthenticated,
    Unavailable,
)
from elbowroom.results import CacheResult, CompressEvent, CompressResult, PrepareResult, Progress, SummaryPiece

__all__ = [
    "AsyncClient",
    "AsyncConversation",
    "CacheResult",
    "Client",
    "CompressEvent",
    "CompressResult",
    "Conversation",
    "DeadlineExceeded",
    "ElbowroomError",
    "Internal",
    "InvalidRequest",
    "Overloaded",
    "PermissionDenied",
    "PrepareResult",
    "Progress",
    "Refused",
    "SummaryPiece",
    "Unauthenticated",
    "Unavailable",
]
