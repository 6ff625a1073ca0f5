"""The context engine: Hermes decides when to compress, Elbowroom compresses."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from agent.context_engine import ContextEngine
from elbowroom import Client, ElbowroomError

from elbowroom_hermes.settings import Settings

logger = logging.getLogger(__name__)

_GROWTH = 1.10  # after a compression that gained nothing, the prompt has to grow by that much


class ElbowroomEngine(ContextEngine):
    """Has the conversation of one agent compressed by a running Elbowroom.

    A failure never costs a message: ``compress`` returns the list it was given and says so in the attributes that Hermes reads
    after a compression, and ``should_compress`` pauses. Hermes then goes on with the full history.

    Args:
        settings: Where the service is. Default: the environment's.
        clock: Seconds that only grow; for tests.
    """

    def __init__(self, settings: Settings | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings or Settings.from_environment()
        self._clock = clock
        self._client: Client | None = None
        self._model = ""
        self.threshold_percent = self._settings.threshold
        # Hermes reads these two after each compression and tells the user.
        self._last_compress_aborted = False
        self._last_summary_error: str | None = None
        self._forget()

    def __deepcopy__(self, memo: dict[int, Any]) -> ElbowroomEngine:
        """Return a fresh engine: Hermes copies the registered one for each agent, and a connection cannot be copied."""
        return ElbowroomEngine(self._settings, self._clock)

    @property
    def name(self) -> str:
        """The value of ``context.engine`` that selects this engine."""
        return "elbowroom"

    # What Hermes tells the engine.

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take over what the provider reported; an empty report changes nothing but that none is awaited any more."""
        self.awaiting_real_usage_after_compression = False
        if not usage:
            return
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", self.last_prompt_tokens + self.last_completion_tokens)

    def update_model(self, model: str, context_length: int, **route: Any) -> None:
        """Take over the model's name and window."""
        super().update_model(model, context_length, **route)
        self._model = model

    def on_session_start(self, session_id: str, **details: Any) -> None:
        """Take over the session's name. After a compression Hermes may go on under a new one; the conversation stays the same."""
        if details.get("boundary_reason") != "compression" and session_id != self._session:
            self._forget()
        self._session = session_id

    def on_session_end(self, session_id: str, messages: list[dict[str, Any]]) -> None:
        """Close the connection; a next call opens another."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def on_session_reset(self) -> None:
        """Begin anew."""
        super().on_session_reset()
        self._forget()

    # What Hermes asks the engine.

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Report whether the prompt is over the threshold, unless the last attempt failed a moment ago or gained nothing."""
        size = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        if self.threshold_tokens <= 0 or size < self.threshold_tokens or self.get_active_compression_failure_cooldown():
            return False
        return size >= self._useless_below

    def get_active_compression_failure_cooldown(self) -> dict[str, Any] | None:
        """Return how long no compression is tried after a failure, None where one may be; Hermes asks before it estimates."""
        remaining = self._pause_until - self._clock()
        return {"remaining_seconds": remaining, "error": self._last_summary_error} if remaining > 0 else None

    def compress(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the conversation compressed, or the list that was given where that failed or gained nothing.

        It compresses below the service's own threshold too. Hermes calls it when its threshold is passed or the provider refused
        the prompt, and only Hermes knows what its system prompt and tools cost: they are not among the messages.

        Args:
            messages: The conversation without the system prompt.
            current_tokens: Size of the request by Hermes' own estimate.
            focus_topic: What to keep in most detail.
            force: The user asked for it: try in a pause too.
        """
        self._last_compress_aborted, self._last_summary_error = False, None
        if not force and self.get_active_compression_failure_cooldown():
            return self._failed(messages, "the last call failed a moment ago")
        try:
            if self._client is None:
                self._client = self._settings.connect()
            result = self._client.compress(
                messages,
                format="openai_chat",
                model=self._model,
                context_window=self.context_length,
                session_id=self._session,
                focus=focus_topic or "",
                force=True,
                policy={"threshold": self.threshold_percent},
                compression_state=self._state,
            )
        except ElbowroomError as error:
            logger.warning("elbowroom: %s", error)
            self._pause_until = self._clock() + self._settings.pause
            return self._failed(messages, f"{error.message} ({error.advice})")
        self._pause_until = 0.0
        logger.info(
            "elbowroom: %s, %d tokens before, %d after (%s)",
            result.outcome, result.report.tokens_before, result.report.tokens_after, result.report.reason,
        )  # fmt: skip
        if result.report.tokens_after >= result.report.tokens_before:
            self._useless_below = int((current_tokens or self.last_prompt_tokens) * _GROWTH)
            return messages
        self._useless_below = 0
        self._state = result.compression_state
        self.compression_count += 1
        return result.body

    def _failed(self, messages: list[dict[str, Any]], reason: str) -> list[dict[str, Any]]:
        self._last_compress_aborted, self._last_summary_error = True, f"Elbowroom: {reason}"
        return messages

    def _forget(self) -> None:
        self._session = ""
        self._state = b""
        self._pause_until = 0.0
        self._useless_below = 0
        self.awaiting_real_usage_after_compression = False
