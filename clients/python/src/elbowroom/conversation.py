"""A conversation over its turns: history, states and usage are carried for the caller."""

from __future__ import annotations

from typing_extensions import Unpack

from elbowroom._body import B
from elbowroom._turns import Turns
from elbowroom.aio import AsyncClient
from elbowroom.client import Client
from elbowroom.errors import ElbowroomError
from elbowroom.options import ConversationOptions, FormatName, Metadata


class Conversation(Turns):
    """Keeps one conversation inside its window and its prefix in the provider's cache, a turn at a time.

    Call ``before_request`` with the body of each request and send what comes back; call ``after_response`` with the usage that
    the provider reported. The loop may keep its own full list and append to it, or go on with the list it got back. An old
    message that changes starts the history anew. Not for use by several threads at once.

    Args:
        client: The connection to the service.
        model: The main model. Default: the one named in the body.
        format: The wire format. Default: told from the first body where that is possible.
        session_id: Names the conversation to the service. Default: random.
        fail_open: When the service fails, go on without it: ``before_request`` returns the body as it was given, or with the
            history as it was last compressed, and notes ``last_error``. A body that cannot be serialized, or whose format
            cannot be told, comes back as it was given. Default False: it raises.
        options: Fields of the requests that hold for all turns, see ``ConversationOptions``.
    """

    def __init__(
        self,
        client: Client,
        *,
        model: str | None = None,
        format: FormatName | None = None,
        session_id: str | None = None,
        fail_open: bool = False,
        **options: Unpack[ConversationOptions],
    ) -> None:
        super().__init__(format, model, session_id, fail_open, options)
        self._client = client

    def before_request(
        self, body: B, *, force: bool = False, timeout: float | None = None, metadata: Metadata | None = None
    ) -> B:
        """Return the body to send to the provider: compressed if it was time for it, and marked.

        Args:
            body: The request body or the list of messages, of any kind that ``Client.prepare`` takes.
            force: Compress below the threshold too.
            timeout: Seconds for this call. Default: the client's.
            metadata: gRPC metadata of this call, beside the client's.

        Raises:
            ElbowroomError: The service failed, or the body cannot be serialized, and ``fail_open`` is False.
        """
        turn = self._begin(body, force)
        if turn is None:
            return body
        try:
            try:
                response = self._client.call("Prepare", self._request(turn, full=False), timeout=timeout, metadata=metadata)
            except ElbowroomError as error:
                if not self._retry_in_full(error):
                    raise
                response = self._client.call("Prepare", self._request(turn, full=True), timeout=timeout, metadata=metadata)
        except ElbowroomError as error:
            return self._fail(turn, error, body)
        return self._finish(turn, response, body)


class AsyncConversation(Turns):
    """``Conversation`` for asyncio. Not for use by several tasks at once."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        model: str | None = None,
        format: FormatName | None = None,
        session_id: str | None = None,
        fail_open: bool = False,
        **options: Unpack[ConversationOptions],
    ) -> None:
        super().__init__(format, model, session_id, fail_open, options)
        self._client = client

    async def before_request(
        self, body: B, *, force: bool = False, timeout: float | None = None, metadata: Metadata | None = None
    ) -> B:
        """Return the body to send to the provider; see ``Conversation.before_request``."""
        turn = self._begin(body, force)
        if turn is None:
            return body
        call = self._client.call
        try:
            try:
                response = await call("Prepare", self._request(turn, full=False), timeout=timeout, metadata=metadata)
            except ElbowroomError as error:
                if not self._retry_in_full(error):
                    raise
                response = await call("Prepare", self._request(turn, full=True), timeout=timeout, metadata=metadata)
        except ElbowroomError as error:
            return self._fail(turn, error, body)
        return self._finish(turn, response, body)
