"""The options of the calls, as keyword arguments, and how they become fields of a request.

Enums are given by their short names in small letters: ``layer="gateway"`` is ``LAYER_GATEWAY``. What has no option of its own
goes into a request message that is passed as ``base``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from google.protobuf import json_format
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from elbowroom.errors import InvalidRequest
from elbowroom.v1 import compress_pb2

_NO_OPTIONS = ("conversation", "view")  # fields that the client sets

FormatName = Literal["openai_chat", "anthropic_messages", "bedrock_converse"]
"""The wire format of a body."""

LayerName = Literal["agent", "gateway"]
LayoutName = Literal[
    "anthropic",
    "openrouter",
    "litellm",
    "bedrock",
    "bedrock_invoke",
    "vertex",
    "alibaba",
    "minimax",
    "openai",
    "openai_implicit",
    "gemini",
    "deepseek",
    "xai",
    "moonshot",
]
StrategyName = Literal[
    "system_and_3", "none", "hermes_default", "transaction_ends", "anchored", "auto_plus_system", "system_only"
]
TtlName = Literal["5m", "1h"]
Metadata = Mapping[str, str] | Sequence[tuple[str, str]]
"""Additional gRPC metadata (headers)."""


class PolicyOptions(TypedDict, total=False):
    """How to compress; what is left out has the server's default. ``CompressionPolicy`` in the API says more."""

    profile: Literal["classic"]
    enabled: bool
    threshold: float
    """Share of the window at which compression starts. Default 0.50, or 0.85 for the gateway layer."""
    target_ratio: float
    protect_first_n: int
    protect_last_n: int
    prune_over_chars: int
    target_tokens: int
    """Hard upper bound of the result in tokens. Default: none."""
    system_note: Literal["append", "none"]
    thinking: Literal["auto", "keep", "remove"]
    alternation: Literal["relaxed", "strict"]
    failure_policy: Literal["fallback", "abort"]
    summarizer: str
    summary_ratio: float
    summary_min_tokens: int
    summary_max_tokens: int
    prune_tool_arguments: bool
    min_gain: float
    threshold_tokens: int
    redact: bool


class UsageOptions(TypedDict, total=False):
    """What the provider reported for an earlier request, in tokens. Cached input counts as prompt tokens."""

    prompt_tokens: int
    completion_tokens: int
    message_count: int
    """How many leading messages of this request's list the prompt stood for. 0: all of them."""


class SizeOptions(TypedDict, total=False):
    """Fields of ``CompressRequest`` and ``PrepareRequest`` that a conversation sets once."""

    context_window: int
    """The model's window in tokens. Default: what the server knows of the model."""
    policy: PolicyOptions | compress_pb2.CompressionPolicy
    layer: LayerName
    focus: str
    """What to keep in most detail. Default: nothing in particular."""
    max_output_tokens: int
    """Tokens reserved for the answer. Default 0."""


class TurnOptions(SizeOptions, total=False):
    """Fields of ``CompressRequest`` and ``PrepareRequest`` that belong to one request."""

    pinned: Sequence[int]
    """Indices of messages that are kept word for word."""
    force: bool
    """Compress below the threshold too. Default False."""
    last_usage: UsageOptions | compress_pb2.Usage
    previous_summary: str
    session_id: str
    compression_state: bytes
    """What the last result carried. Default: the earlier summary is found by its marker."""


class CompressOptions(TurnOptions, total=False):
    """Options of ``compress`` and ``stream_compress``."""

    plan_only: bool
    """Say what would be done, change nothing. Default False."""


class MarkOptions(TypedDict, total=False):
    """Fields of ``ApplyCacheControlRequest`` and ``PrepareRequest`` that a conversation sets once."""

    layout: LayoutName
    strategy: StrategyName
    """Default ``"system_and_3"``."""
    ttl: TtlName
    """Life of the cached prefixes. Default ``"5m"``."""
    existing: Literal["replace", "respect"]
    reserved: int
    leave_newest_user_unmarked: bool
    mark_tool_messages: bool
    static_system_prefix: str
    split_system: bool
    retry_anchor: bool
    head_messages: int


class CacheOptions(MarkOptions, total=False):
    """Options of ``apply_cache_control``."""

    cache_state: bytes
    """What the last result carried, for ``strategy="anchored"``."""


class PrepareOptions(TurnOptions, CacheOptions, total=False):
    """Options of ``prepare``."""


class CountOptions(TypedDict, total=False):
    """Options of ``count_tokens``."""

    method: Literal["auto", "local", "provider"]
    last_usage: UsageOptions | compress_pb2.Usage


class SimulateOptions(TypedDict, total=False):
    """Options of ``simulate_cache``."""

    layout: LayoutName
    counting: Literal["documented", "collapsed", "raw"]
    price_date: str
    omit_excerpts: bool
    estimate_only: bool


class ConversationOptions(SizeOptions, MarkOptions, total=False):
    """Options of a conversation: those of ``prepare`` that hold for all its turns."""


def fill(request: Message, options: Mapping[str, Any]) -> None:
    """Set the fields of a request from options.

    Raises:
        InvalidRequest: An option has a value that its field cannot hold.
        TypeError: There is no such option.
    """
    fields = {name: field for name, field in request.DESCRIPTOR.fields_by_name.items() if name not in _NO_OPTIONS}
    for name, value in options.items():
        field = fields.get(name)
        if field is None:
            raise TypeError(f"{request.DESCRIPTOR.name} has no option {name!r}; it has {', '.join(sorted(fields))}")
        if value is None:
            continue
        try:
            _set(request, field, value)
        except (TypeError, ValueError, json_format.ParseError) as error:
            raise InvalidRequest(f"{name}: {error}", field=name) from error


def enum_number(enum: EnumDescriptor, value: str | int) -> int:
    """Return the number of an enum value given by its number, its full name or its short name."""
    if isinstance(value, int):
        return value
    by_name = enum.values_by_name
    prefix = _prefix(enum)
    for name in (value, prefix + value.upper()):
        if name in by_name:
            return int(by_name[name].number)
    names = ", ".join(sorted(short_name(enum, v.number) for v in enum.values if v.number))
    raise ValueError(f"unknown value {value!r}, use one of {names}")


def short_name(enum: EnumDescriptor, number: int) -> str:
    """Return the short name of an enum value, the number as text where this client does not know it."""
    value = enum.values_by_number.get(number)
    return str(number) if value is None else str(value.name)[len(_prefix(enum)) :].lower()


def _prefix(enum: EnumDescriptor) -> str:
    """What all names of an enum begin with: every enum has X_UNSPECIFIED."""
    return str(enum.values_by_number[0].name)[: -len("UNSPECIFIED")]


def _set(message: Message, field: Any, value: Any) -> None:
    if field.is_repeated:
        getattr(message, field.name).extend(value)
    elif field.message_type is not None:
        target = getattr(message, field.name)
        target.SetInParent()
        if isinstance(value, Message):
            target.MergeFrom(value)
        else:
            for name, inner in value.items():
                if name not in field.message_type.fields_by_name:
                    names = ", ".join(sorted(field.message_type.fields_by_name))
                    raise ValueError(f"there is no {name!r} in it, use {names}")
                _set(target, field.message_type.fields_by_name[name], inner)
    elif field.enum_type is not None:
        setattr(message, field.name, enum_number(field.enum_type, value))
    else:
        setattr(message, field.name, value)
