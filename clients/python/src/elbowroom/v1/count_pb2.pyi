from elbowroom.v1 import compress_pb2 as _compress_pb2
from elbowroom.v1 import conversation_pb2 as _conversation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Method(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    METHOD_UNSPECIFIED: _ClassVar[Method]
    METHOD_AUTO: _ClassVar[Method]
    METHOD_LOCAL: _ClassVar[Method]
    METHOD_ESTIMATE: _ClassVar[Method]
    METHOD_PROVIDER: _ClassVar[Method]
METHOD_UNSPECIFIED: Method
METHOD_AUTO: Method
METHOD_LOCAL: Method
METHOD_ESTIMATE: Method
METHOD_PROVIDER: Method

class CountTokensRequest(_message.Message):
    __slots__ = ("conversation", "text", "model", "method", "last_usage")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    LAST_USAGE_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    text: str
    model: str
    method: Method
    last_usage: _compress_pb2.Usage
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., text: _Optional[str] = ..., model: _Optional[str] = ..., method: _Optional[_Union[Method, str]] = ..., last_usage: _Optional[_Union[_compress_pb2.Usage, _Mapping]] = ...) -> None: ...

class CountTokensResponse(_message.Message):
    __slots__ = ("tokens", "lower_bound", "upper_bound", "method", "encoding", "messages", "parts", "warnings", "anchor", "provider")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    lower_bound: int
    upper_bound: int
    method: Method
    encoding: str
    messages: _containers.RepeatedCompositeFieldContainer[MessageTokens]
    parts: TokenParts
    warnings: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Warning]
    anchor: UsageAnchor
    provider: ProviderCount
    def __init__(self, tokens: _Optional[int] = ..., lower_bound: _Optional[int] = ..., upper_bound: _Optional[int] = ..., method: _Optional[_Union[Method, str]] = ..., encoding: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[MessageTokens, _Mapping]]] = ..., parts: _Optional[_Union[TokenParts, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[_conversation_pb2.Warning, _Mapping]]] = ..., anchor: _Optional[_Union[UsageAnchor, _Mapping]] = ..., provider: _Optional[_Union[ProviderCount, _Mapping]] = ...) -> None: ...

class UsageAnchor(_message.Message):
    __slots__ = ("applied", "reason", "prompt_tokens", "covered_messages", "covered_local_tokens", "tokens_after", "correction", "measured_ratio", "correction_min", "correction_max")
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COVERED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    COVERED_LOCAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_FIELD_NUMBER: _ClassVar[int]
    MEASURED_RATIO_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_MIN_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_MAX_FIELD_NUMBER: _ClassVar[int]
    applied: bool
    reason: str
    prompt_tokens: int
    covered_messages: int
    covered_local_tokens: int
    tokens_after: int
    correction: float
    measured_ratio: float
    correction_min: float
    correction_max: float
    def __init__(self, applied: _Optional[bool] = ..., reason: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., covered_messages: _Optional[int] = ..., covered_local_tokens: _Optional[int] = ..., tokens_after: _Optional[int] = ..., correction: _Optional[float] = ..., measured_ratio: _Optional[float] = ..., correction_min: _Optional[float] = ..., correction_max: _Optional[float] = ...) -> None: ...

class ProviderCount(_message.Message):
    __slots__ = ("used", "name", "fallback_reason")
    USED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_REASON_FIELD_NUMBER: _ClassVar[int]
    used: bool
    name: str
    fallback_reason: str
    def __init__(self, used: _Optional[bool] = ..., name: _Optional[str] = ..., fallback_reason: _Optional[str] = ...) -> None: ...

class MessageTokens(_message.Message):
    __slots__ = ("tokens",)
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    def __init__(self, tokens: _Optional[int] = ...) -> None: ...

class TokenParts(_message.Message):
    __slots__ = ("system", "tools", "text", "tool_calls", "tool_results", "media", "framing", "reasoning")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    FRAMING_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    system: int
    tools: int
    text: int
    tool_calls: int
    tool_results: int
    media: int
    framing: int
    reasoning: int
    def __init__(self, system: _Optional[int] = ..., tools: _Optional[int] = ..., text: _Optional[int] = ..., tool_calls: _Optional[int] = ..., tool_results: _Optional[int] = ..., media: _Optional[int] = ..., framing: _Optional[int] = ..., reasoning: _Optional[int] = ...) -> None: ...
