from elbowroom.v1 import conversation_pb2 as _conversation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Layout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LAYOUT_UNSPECIFIED: _ClassVar[Layout]
    LAYOUT_ANTHROPIC: _ClassVar[Layout]
    LAYOUT_OPENROUTER: _ClassVar[Layout]
    LAYOUT_LITELLM: _ClassVar[Layout]
    LAYOUT_BEDROCK: _ClassVar[Layout]
    LAYOUT_BEDROCK_INVOKE: _ClassVar[Layout]
    LAYOUT_VERTEX: _ClassVar[Layout]
    LAYOUT_ALIBABA: _ClassVar[Layout]
    LAYOUT_MINIMAX: _ClassVar[Layout]
    LAYOUT_OPENAI: _ClassVar[Layout]
    LAYOUT_OPENAI_IMPLICIT: _ClassVar[Layout]
    LAYOUT_GEMINI: _ClassVar[Layout]
    LAYOUT_DEEPSEEK: _ClassVar[Layout]
    LAYOUT_XAI: _ClassVar[Layout]
    LAYOUT_MOONSHOT: _ClassVar[Layout]

class Strategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STRATEGY_UNSPECIFIED: _ClassVar[Strategy]
    STRATEGY_SYSTEM_AND_3: _ClassVar[Strategy]
    STRATEGY_NONE: _ClassVar[Strategy]
    STRATEGY_HERMES_DEFAULT: _ClassVar[Strategy]
    STRATEGY_TRANSACTION_ENDS: _ClassVar[Strategy]
    STRATEGY_ANCHORED: _ClassVar[Strategy]
    STRATEGY_AUTO_PLUS_SYSTEM: _ClassVar[Strategy]
    STRATEGY_SYSTEM_ONLY: _ClassVar[Strategy]

class ExistingMarks(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXISTING_MARKS_UNSPECIFIED: _ClassVar[ExistingMarks]
    EXISTING_MARKS_REPLACE: _ClassVar[ExistingMarks]
    EXISTING_MARKS_RESPECT: _ClassVar[ExistingMarks]
LAYOUT_UNSPECIFIED: Layout
LAYOUT_ANTHROPIC: Layout
LAYOUT_OPENROUTER: Layout
LAYOUT_LITELLM: Layout
LAYOUT_BEDROCK: Layout
LAYOUT_BEDROCK_INVOKE: Layout
LAYOUT_VERTEX: Layout
LAYOUT_ALIBABA: Layout
LAYOUT_MINIMAX: Layout
LAYOUT_OPENAI: Layout
LAYOUT_OPENAI_IMPLICIT: Layout
LAYOUT_GEMINI: Layout
LAYOUT_DEEPSEEK: Layout
LAYOUT_XAI: Layout
LAYOUT_MOONSHOT: Layout
STRATEGY_UNSPECIFIED: Strategy
STRATEGY_SYSTEM_AND_3: Strategy
STRATEGY_NONE: Strategy
STRATEGY_HERMES_DEFAULT: Strategy
STRATEGY_TRANSACTION_ENDS: Strategy
STRATEGY_ANCHORED: Strategy
STRATEGY_AUTO_PLUS_SYSTEM: Strategy
STRATEGY_SYSTEM_ONLY: Strategy
EXISTING_MARKS_UNSPECIFIED: ExistingMarks
EXISTING_MARKS_REPLACE: ExistingMarks
EXISTING_MARKS_RESPECT: ExistingMarks

class ApplyCacheControlRequest(_message.Message):
    __slots__ = ("conversation", "model", "layout", "strategy", "ttl", "existing", "reserved", "leave_newest_user_unmarked", "view", "mark_tool_messages", "static_system_prefix", "split_system", "retry_anchor", "head_messages", "cache_state")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    EXISTING_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    LEAVE_NEWEST_USER_UNMARKED_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    MARK_TOOL_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    STATIC_SYSTEM_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SPLIT_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    RETRY_ANCHOR_FIELD_NUMBER: _ClassVar[int]
    HEAD_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATE_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    model: str
    layout: Layout
    strategy: Strategy
    ttl: _conversation_pb2.CacheTtl
    existing: ExistingMarks
    reserved: int
    leave_newest_user_unmarked: bool
    view: _conversation_pb2.View
    mark_tool_messages: bool
    static_system_prefix: str
    split_system: bool
    retry_anchor: bool
    head_messages: int
    cache_state: bytes
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., model: _Optional[str] = ..., layout: _Optional[_Union[Layout, str]] = ..., strategy: _Optional[_Union[Strategy, str]] = ..., ttl: _Optional[_Union[_conversation_pb2.CacheTtl, str]] = ..., existing: _Optional[_Union[ExistingMarks, str]] = ..., reserved: _Optional[int] = ..., leave_newest_user_unmarked: _Optional[bool] = ..., view: _Optional[_Union[_conversation_pb2.View, str]] = ..., mark_tool_messages: _Optional[bool] = ..., static_system_prefix: _Optional[str] = ..., split_system: _Optional[bool] = ..., retry_anchor: _Optional[bool] = ..., head_messages: _Optional[int] = ..., cache_state: _Optional[bytes] = ...) -> None: ...

class ApplyCacheControlResponse(_message.Message):
    __slots__ = ("conversation", "edits", "splices", "breakpoints", "skipped", "layout", "layout_reason", "warnings", "cache_state", "plan", "predicted_usage")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    SPLICES_FIELD_NUMBER: _ClassVar[int]
    BREAKPOINTS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_REASON_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_USAGE_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    edits: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Edit]
    splices: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Splice]
    breakpoints: _containers.RepeatedCompositeFieldContainer[Breakpoint]
    skipped: _containers.RepeatedCompositeFieldContainer[SkippedPlace]
    layout: Layout
    layout_reason: str
    warnings: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Warning]
    cache_state: bytes
    plan: CachePlan
    predicted_usage: PredictedUsage
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., edits: _Optional[_Iterable[_Union[_conversation_pb2.Edit, _Mapping]]] = ..., splices: _Optional[_Iterable[_Union[_conversation_pb2.Splice, _Mapping]]] = ..., breakpoints: _Optional[_Iterable[_Union[Breakpoint, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[SkippedPlace, _Mapping]]] = ..., layout: _Optional[_Union[Layout, str]] = ..., layout_reason: _Optional[str] = ..., warnings: _Optional[_Iterable[_Union[_conversation_pb2.Warning, _Mapping]]] = ..., cache_state: _Optional[bytes] = ..., plan: _Optional[_Union[CachePlan, _Mapping]] = ..., predicted_usage: _Optional[_Union[PredictedUsage, _Mapping]] = ...) -> None: ...

class PredictedUsage(_message.Message):
    __slots__ = ("prompt_tokens", "read_tokens", "write_5m_tokens", "write_1h_tokens", "write_tokens", "uncached_tokens", "basis", "estimated")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_5M_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_1H_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    UNCACHED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BASIS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    write_tokens: int
    uncached_tokens: int
    basis: str
    estimated: bool
    def __init__(self, prompt_tokens: _Optional[int] = ..., read_tokens: _Optional[int] = ..., write_5m_tokens: _Optional[int] = ..., write_1h_tokens: _Optional[int] = ..., write_tokens: _Optional[int] = ..., uncached_tokens: _Optional[int] = ..., basis: _Optional[str] = ..., estimated: _Optional[bool] = ...) -> None: ...

class CachePlan(_message.Message):
    __slots__ = ("anchor", "state", "hint")
    ANCHOR_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    anchor: str
    state: str
    hint: CacheHint
    def __init__(self, anchor: _Optional[str] = ..., state: _Optional[str] = ..., hint: _Optional[_Union[CacheHint, _Mapping]] = ...) -> None: ...

class CacheHint(_message.Message):
    __slots__ = ("name", "where")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    name: str
    where: str
    def __init__(self, name: _Optional[str] = ..., where: _Optional[str] = ...) -> None: ...

class Breakpoint(_message.Message):
    __slots__ = ("section", "message_index", "block_index", "ttl", "tokens", "inert")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    INERT_FIELD_NUMBER: _ClassVar[int]
    section: _conversation_pb2.Section
    message_index: int
    block_index: int
    ttl: _conversation_pb2.CacheTtl
    tokens: int
    inert: bool
    def __init__(self, section: _Optional[_Union[_conversation_pb2.Section, str]] = ..., message_index: _Optional[int] = ..., block_index: _Optional[int] = ..., ttl: _Optional[_Union[_conversation_pb2.CacheTtl, str]] = ..., tokens: _Optional[int] = ..., inert: _Optional[bool] = ...) -> None: ...

class SkippedPlace(_message.Message):
    __slots__ = ("section", "message_index", "reason")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    section: _conversation_pb2.Section
    message_index: int
    reason: str
    def __init__(self, section: _Optional[_Union[_conversation_pb2.Section, str]] = ..., message_index: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...
