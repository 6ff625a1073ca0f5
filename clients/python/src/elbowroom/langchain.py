"""Middleware for LangChain agents (``create_agent``, LangGraph): the agent's history is compressed when it is time for it.

    agent = create_agent(model, tools, middleware=[ElbowroomMiddleware(Client(), model="claude-sonnet-5-5")])

Before each model call the messages of the state go to the service in OpenAI's shape. Where they are compressed, the state's
messages are replaced, so a checkpointer keeps the shorter history. A message that is kept is the same object as before.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from typing_extensions import NotRequired, Unpack

from elbowroom._plain import find_fault
from elbowroom._usage import read_usage
from elbowroom.aio import AsyncClient
from elbowroom.client import Client
from elbowroom.errors import ElbowroomError, InvalidRequest
from elbowroom.options import CompressOptions, SizeOptions
from elbowroom.results import CompressResult
from elbowroom.v1 import compress_pb2, context_service_pb2, conversation_pb2

_WITH_EDITS = compress_pb2.CompressRequest(view=conversation_pb2.VIEW_EDITS)

_log = logging.getLogger(__name__)
# Blocks of a reply's content that the service is not shown: thinking, and calls, which stand in tool_calls too.
_THINKING = ("thinking", "redacted_thinking")
_THOUGHTS = (*_THINKING, "reasoning")
_UNSEEN = (*_THOUGHTS, "tool_use", "tool_call", "input_json_delta", "function_call")


class ElbowroomState(AgentState[Any]):
    """What the middleware keeps in the agent's state, beside the messages."""

    elbowroom_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """Names the conversation to the service."""
    elbowroom_state: NotRequired[Annotated[bytes, PrivateStateAttr]]
    """The service's own state of the conversation."""
    elbowroom_stale: NotRequired[Annotated[str, PrivateStateAttr]]
    """Id of the newest reply at the last compression: the usage it reported belongs to the longer history."""


class ElbowroomMiddleware(AgentMiddleware[ElbowroomState, Any, Any]):
    """Compresses the history of an agent before it outgrows the model's window.

    Args:
        client: The connection to the service. A ``Client`` serves synchronous and asynchronous agents, an ``AsyncClient`` the
            latter only.
        model: The name of the agent's model, which sets window and tokenizer. Default: a model of 128,000 tokens.
        thinking: What becomes of signed thinking in kept messages behind the first change. ``"auto"`` (default): it is removed
            for models that bind a signature to everything before it, and kept for others. ``"keep"``, ``"remove"``: always.
        fail_open: When the service fails, log a warning and leave the history as it is. Default False: the agent's call raises.
        options: How to compress, see ``SizeOptions``.
    """

    state_schema = ElbowroomState

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        model: str | None = None,
        thinking: Literal["auto", "keep", "remove"] = "auto",
        fail_open: bool = False,
        **options: Unpack[SizeOptions],
    ) -> None:
        super().__init__()
        self._client = client
        self._model = model
        self._fail_open = fail_open
        self._options = options
        self._thinking = thinking

    def before_model(self, state: ElbowroomState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Compress the state's messages if it is time for it."""
        if isinstance(self._client, AsyncClient):
            raise TypeError("an agent that is called synchronously needs elbowroom.Client")
        try:
            turn = _Turn(state, self._options)
            result = self._client.compress(turn.native, format="openai_chat", model=self._model, base=_WITH_EDITS, **turn.options)
            if not _changed(result):
                return None
            models = self._client.list_models("claude") if self._asks_for_models(state) else None
        except ElbowroomError as error:
            self._failed(error)
            return None
        return turn.update(result, remove_thinking=self._removes_thinking(models))

    async def abefore_model(self, state: ElbowroomState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Compress the state's messages if it is time for it."""
        if isinstance(self._client, Client):
            return await asyncio.to_thread(self.before_model, state, runtime)
        try:
            turn = _Turn(state, self._options)
            result = await self._client.compress(
                turn.native, format="openai_chat", model=self._model, base=_WITH_EDITS, **turn.options
            )
            if not _changed(result):
                return None
            models = await self._client.list_models("claude") if self._asks_for_models(state) else None
        except ElbowroomError as error:
            self._failed(error)
            return None
        return turn.update(result, remove_thinking=self._removes_thinking(models))

    def _failed(self, error: ElbowroomError) -> None:
        if not self._fail_open:
            raise error
        _log.warning("the history was not compressed: %s", error)

    def _asks_for_models(self, state: ElbowroomState) -> bool:
        return self._thinking == "auto" and any(_thinks(message) for message in state["messages"])

    def _removes_thinking(self, models: context_service_pb2.ListModelsResponse | None) -> bool:
        if models is None:
            return self._thinking == "remove"
        name = (self._model or "claude").lower().replace(".", "-")
        known = [model for model in models.models if model.id in name]
        regime = max(known, key=lambda model: len(model.id)).thinking if known else context_service_pb2.THINKING_REGIME_BOUND
        return regime == context_service_pb2.THINKING_REGIME_BOUND


class _Turn:
    """One look at the state: what goes to the service, and what its answer means for the state."""

    def __init__(self, state: ElbowroomState, options: SizeOptions) -> None:
        self.messages: list[AnyMessage] = state["messages"]
        self.native = [_to_openai(message) for message in self.messages]
        self.session = state.get("elbowroom_session") or uuid.uuid4().hex
        self.options = cast(CompressOptions, dict(options))
        self.options["session_id"] = self.session
        self.options["compression_state"] = state.get("elbowroom_state", b"")
        usage = _usage(self.messages, state.get("elbowroom_stale", ""))
        if usage is not None:
            self.options["last_usage"] = usage

    def update(self, result: CompressResult[Any], *, remove_thinking: bool) -> dict[str, Any]:
        replaced: list[BaseMessage] = []
        first_changed = result.report.first_changed_index
        for edit in result.response.edits:
            if edit.section != conversation_pb2.SECTION_MESSAGES:
                continue
            if edit.HasField("keep"):
                replaced += self.messages[edit.keep.start : edit.keep.end]
            elif edit.HasField("replace"):
                index = edit.replace.index
                replaced.append(_rewrite(self.messages[index], self.native[index], json.loads(edit.replace.json)))
            elif edit.HasField("insert"):
                replaced.append(_from_openai(json.loads(edit.insert.json)))
        if remove_thinking:
            replaced = [*replaced[:first_changed], *_without_thinking(replaced[first_changed:])]
        newest = next((message.id for message in reversed(self.messages) if isinstance(message, AIMessage)), None)
        return {
            "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *replaced],
            "elbowroom_session": self.session,
            "elbowroom_state": result.compression_state,
            "elbowroom_stale": newest or "",
        }


def _changed(result: CompressResult[Any]) -> bool:
    return result.report.HasField("first_changed_index")


def _usage(messages: Sequence[AnyMessage], stale: str) -> compress_pb2.Usage | None:
    """What the model reported for the newest reply, None where that belongs to a history that is no more."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AIMessage):
            if not message.usage_metadata or not index or (stale and message.id == stale):
                return None
            return read_usage(message.usage_metadata, index)
    return None


def _to_openai(message: BaseMessage) -> dict[str, Any]:
    """Write a message in OpenAI's shape. Blocks that it does not know stay as they are; the service carries them unchanged."""
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": _content(message)}
    if isinstance(message, AIMessage):
        out: dict[str, Any] = {"role": "assistant", "content": _content(message) or None}
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        if calls:
            out["tool_calls"] = [
                {
                    "id": call["id"] or "",
                    "type": "function",
                    "function": {"name": call["name"] or "", "arguments": _arguments(call["args"])},
                }
                for call in calls
            ]
        elif out["content"] is None:
            out["content"] = ""
        return out
    role = "system" if isinstance(message, SystemMessage) else "user"
    return {"role": role, "content": _content(message)}


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value or {}, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the arguments of a tool call cannot be written as JSON: {find_fault(value) or error}") from error


def _content(message: BaseMessage) -> str | list[Any]:
    """The content without what stands elsewhere (calls) or is no text for the model (signed thinking)."""
    if isinstance(message.content, str):
        return message.content
    blocks: list[Any] = []
    for block in message.content:
        if isinstance(block, str):
            blocks.append({"type": "text", "text": block})
        elif block.get("type") not in _UNSEEN:
            blocks.append(block)
    return blocks


def _from_openai(native: dict[str, Any]) -> BaseMessage:
    """Make a message of one that the service wrote: the summary, or a stand-in for a result that is missing."""
    if native["role"] == "tool":
        return ToolMessage(content=native["content"], tool_call_id=native["tool_call_id"])
    if native["role"] == "assistant":
        return AIMessage(content=native["content"])
    return HumanMessage(content=native["content"])


def _rewrite(message: BaseMessage, before: dict[str, Any], after: dict[str, Any]) -> BaseMessage:
    """Return a copy of a message with the changes that the service made to its native form."""
    update: dict[str, Any] = {}
    if after.get("content") != before.get("content"):
        update["content"] = _visible(message, after.get("content") or "")
    if isinstance(message, AIMessage) and after.get("tool_calls") != before.get("tool_calls"):
        arguments = {call["id"]: call["function"]["arguments"] for call in after.get("tool_calls", ())}
        update["tool_calls"] = [
            {**call, "args": json.loads(arguments[call["id"]])} for call in message.tool_calls if call["id"] in arguments
        ]
        if isinstance(message.content, list):
            update["content"] = [_with_input(block, arguments) for block in update.get("content", message.content)]
        raw = message.additional_kwargs.get("tool_calls")
        if raw:
            calls = [
                {**call, "function": {**call["function"], "arguments": arguments[call["id"]]}}
                for call in raw
                if call["id"] in arguments
            ]
            update["additional_kwargs"] = {**message.additional_kwargs, "tool_calls": calls}
    return message.model_copy(update=update)


def _visible(message: BaseMessage, content: str | list[Any]) -> str | list[Any]:
    """Put new content in place of what the service saw; blocks that it did not see keep their side of it."""
    if isinstance(message.content, str):
        return content
    unseen = [block for block in message.content if isinstance(block, dict) and block.get("type") in _UNSEEN]
    if not unseen:
        return content
    text = [{"type": "text", "text": content}] if isinstance(content, str) and content else list(content)
    thoughts = [block for block in unseen if block["type"] in _THOUGHTS]
    return [*thoughts, *text, *(block for block in unseen if block["type"] not in _THOUGHTS)]


def _with_input(block: Any, arguments: dict[str, str]) -> Any:
    if isinstance(block, dict) and block.get("type") == "tool_use" and block.get("id") in arguments:
        return {**block, "input": json.loads(arguments[block["id"]])}
    return block


def _thinks(message: BaseMessage) -> bool:
    return (
        isinstance(message, AIMessage)
        and isinstance(message.content, list)
        and any(isinstance(block, dict) and block.get("type") in _THINKING for block in message.content)
    )


def _without_thinking(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Remove thinking whole; a reply that was nothing else goes."""
    out: list[BaseMessage] = []
    for message in messages:
        if not _thinks(message) or not isinstance(message, AIMessage):
            out.append(message)
            continue
        rest = [block for block in message.content if not isinstance(block, dict) or block.get("type") not in _THINKING]
        if rest or message.tool_calls:
            out.append(message.model_copy(update={"content": rest}))
    return out
