from elbowroom.v1 import cache_pb2 as _cache_pb2
from elbowroom.v1 import compress_pb2 as _compress_pb2
from elbowroom.v1 import conversation_pb2 as _conversation_pb2
from elbowroom.v1 import count_pb2 as _count_pb2
from elbowroom.v1 import simulate_pb2 as _simulate_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThinkingRegime(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THINKING_REGIME_UNSPECIFIED: _ClassVar[ThinkingRegime]
    THINKING_REGIME_UNBOUND: _ClassVar[ThinkingRegime]
    THINKING_REGIME_BOUND: _ClassVar[ThinkingRegime]
THINKING_REGIME_UNSPECIFIED: ThinkingRegime
THINKING_REGIME_UNBOUND: ThinkingRegime
THINKING_REGIME_BOUND: ThinkingRegime

class PrepareRequest(_message.Message):
    __slots__ = ("conversation", "model", "context_window", "policy", "layer", "force", "last_usage", "previous_summary", "focus", "session_id", "view", "pinned", "compression_state", "max_output_tokens", "layout", "strategy", "ttl", "existing", "reserved", "leave_newest_user_unmarked", "mark_tool_messages", "static_system_prefix", "split_system", "retry_anchor", "head_messages", "cache_state")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    LAST_USAGE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    FOCUS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_STATE_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    EXISTING_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    LEAVE_NEWEST_USER_UNMARKED_FIELD_NUMBER: _ClassVar[int]
    MARK_TOOL_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    STATIC_SYSTEM_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SPLIT_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    RETRY_ANCHOR_FIELD_NUMBER: _ClassVar[int]
    HEAD_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATE_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    model: str
    context_window: int
    policy: _compress_pb2.CompressionPolicy
    layer: _compress_pb2.Layer
    force: bool
    last_usage: _compress_pb2.Usage
    previous_summary: str
    focus: str
    session_id: str
    view: _conversation_pb2.View
    pinned: _containers.RepeatedScalarFieldContainer[int]
    compression_state: bytes
    max_output_tokens: int
    layout: _cache_pb2.Layout
    strategy: _cache_pb2.Strategy
    ttl: _conversation_pb2.CacheTtl
    existing: _cache_pb2.ExistingMarks
    reserved: int
    leave_newest_user_unmarked: bool
    mark_tool_messages: bool
    static_system_prefix: str
    split_system: bool
    retry_anchor: bool
    head_messages: int
    cache_state: bytes
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., model: _Optional[str] = ..., context_window: _Optional[int] = ..., policy: _Optional[_Union[_compress_pb2.CompressionPolicy, _Mapping]] = ..., layer: _Optional[_Union[_compress_pb2.Layer, str]] = ..., force: _Optional[bool] = ..., last_usage: _Optional[_Union[_compress_pb2.Usage, _Mapping]] = ..., previous_summary: _Optional[str] = ..., focus: _Optional[str] = ..., session_id: _Optional[str] = ..., view: _Optional[_Union[_conversation_pb2.View, str]] = ..., pinned: _Optional[_Iterable[int]] = ..., compression_state: _Optional[bytes] = ..., max_output_tokens: _Optional[int] = ..., layout: _Optional[_Union[_cache_pb2.Layout, str]] = ..., strategy: _Optional[_Union[_cache_pb2.Strategy, str]] = ..., ttl: _Optional[_Union[_conversation_pb2.CacheTtl, str]] = ..., existing: _Optional[_Union[_cache_pb2.ExistingMarks, str]] = ..., reserved: _Optional[int] = ..., leave_newest_user_unmarked: _Optional[bool] = ..., mark_tool_messages: _Optional[bool] = ..., static_system_prefix: _Optional[str] = ..., split_system: _Optional[bool] = ..., retry_anchor: _Optional[bool] = ..., head_messages: _Optional[int] = ..., cache_state: _Optional[bytes] = ...) -> None: ...

class PrepareResponse(_message.Message):
    __slots__ = ("outcome", "conversation", "edits", "splices", "report", "summary", "compression_state", "breakpoints", "skipped", "layout", "layout_reason", "warnings", "cache_state", "cache_plan", "predicted_usage")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    SPLICES_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_STATE_FIELD_NUMBER: _ClassVar[int]
    BREAKPOINTS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_REASON_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATE_FIELD_NUMBER: _ClassVar[int]
    CACHE_PLAN_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_USAGE_FIELD_NUMBER: _ClassVar[int]
    outcome: _compress_pb2.Outcome
    conversation: _conversation_pb2.Conversation
    edits: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Edit]
    splices: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Splice]
    report: _compress_pb2.CompressionReport
    summary: str
    compression_state: bytes
    breakpoints: _containers.RepeatedCompositeFieldContainer[_cache_pb2.Breakpoint]
    skipped: _containers.RepeatedCompositeFieldContainer[_cache_pb2.SkippedPlace]
    layout: _cache_pb2.Layout
    layout_reason: str
    warnings: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Warning]
    cache_state: bytes
    cache_plan: _cache_pb2.CachePlan
    predicted_usage: _cache_pb2.PredictedUsage
    def __init__(self, outcome: _Optional[_Union[_compress_pb2.Outcome, str]] = ..., conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., edits: _Optional[_Iterable[_Union[_conversation_pb2.Edit, _Mapping]]] = ..., splices: _Optional[_Iterable[_Union[_conversation_pb2.Splice, _Mapping]]] = ..., report: _Optional[_Union[_compress_pb2.CompressionReport, _Mapping]] = ..., summary: _Optional[str] = ..., compression_state: _Optional[bytes] = ..., breakpoints: _Optional[_Iterable[_Union[_cache_pb2.Breakpoint, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[_cache_pb2.SkippedPlace, _Mapping]]] = ..., layout: _Optional[_Union[_cache_pb2.Layout, str]] = ..., layout_reason: _Optional[str] = ..., warnings: _Optional[_Iterable[_Union[_conversation_pb2.Warning, _Mapping]]] = ..., cache_state: _Optional[bytes] = ..., cache_plan: _Optional[_Union[_cache_pb2.CachePlan, _Mapping]] = ..., predicted_usage: _Optional[_Union[_cache_pb2.PredictedUsage, _Mapping]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ("filter",)
    FILTER_FIELD_NUMBER: _ClassVar[int]
    filter: str
    def __init__(self, filter: _Optional[str] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models", "unknown")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    unknown: Model
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., unknown: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("id", "family", "provider", "encoding", "context_window", "max_output_tokens", "thinking", "min_cacheable_tokens", "source", "as_of")
    ID_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    MIN_CACHEABLE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    id: str
    family: str
    provider: str
    encoding: str
    context_window: int
    max_output_tokens: int
    thinking: ThinkingRegime
    min_cacheable_tokens: int
    source: str
    as_of: str
    def __init__(self, id: _Optional[str] = ..., family: _Optional[str] = ..., provider: _Optional[str] = ..., encoding: _Optional[str] = ..., context_window: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., thinking: _Optional[_Union[ThinkingRegime, str]] = ..., min_cacheable_tokens: _Optional[int] = ..., source: _Optional[str] = ..., as_of: _Optional[str] = ...) -> None: ...
