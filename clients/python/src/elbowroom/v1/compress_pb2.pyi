import datetime

from elbowroom.v1 import conversation_pb2 as _conversation_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Layer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LAYER_UNSPECIFIED: _ClassVar[Layer]
    LAYER_AGENT: _ClassVar[Layer]
    LAYER_GATEWAY: _ClassVar[Layer]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_COMPRESSED: _ClassVar[Outcome]
    OUTCOME_BELOW_THRESHOLD: _ClassVar[Outcome]
    OUTCOME_TOO_SHORT: _ClassVar[Outcome]
    OUTCOME_NO_GAIN: _ClassVar[Outcome]
    OUTCOME_TARGET_UNREACHABLE: _ClassVar[Outcome]
    OUTCOME_DEFERRED: _ClassVar[Outcome]
    OUTCOME_COOLING_DOWN: _ClassVar[Outcome]
    OUTCOME_DISABLED: _ClassVar[Outcome]
    OUTCOME_PLANNED: _ClassVar[Outcome]

class Profile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROFILE_UNSPECIFIED: _ClassVar[Profile]
    PROFILE_CLASSIC: _ClassVar[Profile]

class SystemNote(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYSTEM_NOTE_UNSPECIFIED: _ClassVar[SystemNote]
    SYSTEM_NOTE_APPEND: _ClassVar[SystemNote]
    SYSTEM_NOTE_NONE: _ClassVar[SystemNote]

class ThinkingPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THINKING_POLICY_UNSPECIFIED: _ClassVar[ThinkingPolicy]
    THINKING_POLICY_AUTO: _ClassVar[ThinkingPolicy]
    THINKING_POLICY_KEEP: _ClassVar[ThinkingPolicy]
    THINKING_POLICY_REMOVE: _ClassVar[ThinkingPolicy]

class Alternation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ALTERNATION_UNSPECIFIED: _ClassVar[Alternation]
    ALTERNATION_RELAXED: _ClassVar[Alternation]
    ALTERNATION_STRICT: _ClassVar[Alternation]

class FailurePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_POLICY_UNSPECIFIED: _ClassVar[FailurePolicy]
    FAILURE_POLICY_FALLBACK: _ClassVar[FailurePolicy]
    FAILURE_POLICY_ABORT: _ClassVar[FailurePolicy]

class ContinuityResult(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTINUITY_RESULT_UNSPECIFIED: _ClassVar[ContinuityResult]
    CONTINUITY_RESULT_HIT: _ClassVar[ContinuityResult]
    CONTINUITY_RESULT_MISS: _ClassVar[ContinuityResult]

class FactFate(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_FATE_UNSPECIFIED: _ClassVar[FactFate]
    FACT_FATE_REPAIRED: _ClassVar[FactFate]
    FACT_FATE_LOST: _ClassVar[FactFate]
    FACT_FATE_INVENTED: _ClassVar[FactFate]

class RegionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REGION_KIND_UNSPECIFIED: _ClassVar[RegionKind]
    REGION_KIND_HEAD: _ClassVar[RegionKind]
    REGION_KIND_MIDDLE: _ClassVar[RegionKind]
    REGION_KIND_PINNED: _ClassVar[RegionKind]
    REGION_KIND_TAIL: _ClassVar[RegionKind]
    REGION_KIND_SUMMARY: _ClassVar[RegionKind]

class PruneKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRUNE_KIND_UNSPECIFIED: _ClassVar[PruneKind]
    PRUNE_KIND_DUPLICATE: _ClassVar[PruneKind]
    PRUNE_KIND_STUB: _ClassVar[PruneKind]
    PRUNE_KIND_ARGUMENTS: _ClassVar[PruneKind]

class RepairKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPAIR_KIND_UNSPECIFIED: _ClassVar[RepairKind]
    REPAIR_KIND_MISSING_RESULT: _ClassVar[RepairKind]
    REPAIR_KIND_ORPHAN_RESULT: _ClassVar[RepairKind]
    REPAIR_KIND_DUPLICATE_RESULT: _ClassVar[RepairKind]
    REPAIR_KIND_LEADING_ASSISTANT: _ClassVar[RepairKind]
    REPAIR_KIND_BLANK_TEXT: _ClassVar[RepairKind]
    REPAIR_KIND_EMPTY_MESSAGE: _ClassVar[RepairKind]

class Rung(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUNG_UNSPECIFIED: _ClassVar[Rung]
    RUNG_LLM: _ClassVar[Rung]
    RUNG_EXTRACTIVE: _ClassVar[Rung]
    RUNG_PRUNE_ONLY: _ClassVar[Rung]

class CompressPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPRESS_PHASE_UNSPECIFIED: _ClassVar[CompressPhase]
    COMPRESS_PHASE_COUNTING: _ClassVar[CompressPhase]
    COMPRESS_PHASE_PLANNING: _ClassVar[CompressPhase]
    COMPRESS_PHASE_SUMMARIZING: _ClassVar[CompressPhase]
    COMPRESS_PHASE_CHECKING: _ClassVar[CompressPhase]
    COMPRESS_PHASE_ASSEMBLING: _ClassVar[CompressPhase]
LAYER_UNSPECIFIED: Layer
LAYER_AGENT: Layer
LAYER_GATEWAY: Layer
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_COMPRESSED: Outcome
OUTCOME_BELOW_THRESHOLD: Outcome
OUTCOME_TOO_SHORT: Outcome
OUTCOME_NO_GAIN: Outcome
OUTCOME_TARGET_UNREACHABLE: Outcome
OUTCOME_DEFERRED: Outcome
OUTCOME_COOLING_DOWN: Outcome
OUTCOME_DISABLED: Outcome
OUTCOME_PLANNED: Outcome
PROFILE_UNSPECIFIED: Profile
PROFILE_CLASSIC: Profile
SYSTEM_NOTE_UNSPECIFIED: SystemNote
SYSTEM_NOTE_APPEND: SystemNote
SYSTEM_NOTE_NONE: SystemNote
THINKING_POLICY_UNSPECIFIED: ThinkingPolicy
THINKING_POLICY_AUTO: ThinkingPolicy
THINKING_POLICY_KEEP: ThinkingPolicy
THINKING_POLICY_REMOVE: ThinkingPolicy
ALTERNATION_UNSPECIFIED: Alternation
ALTERNATION_RELAXED: Alternation
ALTERNATION_STRICT: Alternation
FAILURE_POLICY_UNSPECIFIED: FailurePolicy
FAILURE_POLICY_FALLBACK: FailurePolicy
FAILURE_POLICY_ABORT: FailurePolicy
CONTINUITY_RESULT_UNSPECIFIED: ContinuityResult
CONTINUITY_RESULT_HIT: ContinuityResult
CONTINUITY_RESULT_MISS: ContinuityResult
FACT_FATE_UNSPECIFIED: FactFate
FACT_FATE_REPAIRED: FactFate
FACT_FATE_LOST: FactFate
FACT_FATE_INVENTED: FactFate
REGION_KIND_UNSPECIFIED: RegionKind
REGION_KIND_HEAD: RegionKind
REGION_KIND_MIDDLE: RegionKind
REGION_KIND_PINNED: RegionKind
REGION_KIND_TAIL: RegionKind
REGION_KIND_SUMMARY: RegionKind
PRUNE_KIND_UNSPECIFIED: PruneKind
PRUNE_KIND_DUPLICATE: PruneKind
PRUNE_KIND_STUB: PruneKind
PRUNE_KIND_ARGUMENTS: PruneKind
REPAIR_KIND_UNSPECIFIED: RepairKind
REPAIR_KIND_MISSING_RESULT: RepairKind
REPAIR_KIND_ORPHAN_RESULT: RepairKind
REPAIR_KIND_DUPLICATE_RESULT: RepairKind
REPAIR_KIND_LEADING_ASSISTANT: RepairKind
REPAIR_KIND_BLANK_TEXT: RepairKind
REPAIR_KIND_EMPTY_MESSAGE: RepairKind
RUNG_UNSPECIFIED: Rung
RUNG_LLM: Rung
RUNG_EXTRACTIVE: Rung
RUNG_PRUNE_ONLY: Rung
COMPRESS_PHASE_UNSPECIFIED: CompressPhase
COMPRESS_PHASE_COUNTING: CompressPhase
COMPRESS_PHASE_PLANNING: CompressPhase
COMPRESS_PHASE_SUMMARIZING: CompressPhase
COMPRESS_PHASE_CHECKING: CompressPhase
COMPRESS_PHASE_ASSEMBLING: CompressPhase

class CompressRequest(_message.Message):
    __slots__ = ("conversation", "model", "context_window", "policy", "layer", "force", "last_usage", "previous_summary", "focus", "session_id", "plan_only", "view", "pinned", "compression_state", "max_output_tokens")
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
    PLAN_ONLY_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_STATE_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    model: str
    context_window: int
    policy: CompressionPolicy
    layer: Layer
    force: bool
    last_usage: Usage
    previous_summary: str
    focus: str
    session_id: str
    plan_only: bool
    view: _conversation_pb2.View
    pinned: _containers.RepeatedScalarFieldContainer[int]
    compression_state: bytes
    max_output_tokens: int
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., model: _Optional[str] = ..., context_window: _Optional[int] = ..., policy: _Optional[_Union[CompressionPolicy, _Mapping]] = ..., layer: _Optional[_Union[Layer, str]] = ..., force: _Optional[bool] = ..., last_usage: _Optional[_Union[Usage, _Mapping]] = ..., previous_summary: _Optional[str] = ..., focus: _Optional[str] = ..., session_id: _Optional[str] = ..., plan_only: _Optional[bool] = ..., view: _Optional[_Union[_conversation_pb2.View, str]] = ..., pinned: _Optional[_Iterable[int]] = ..., compression_state: _Optional[bytes] = ..., max_output_tokens: _Optional[int] = ...) -> None: ...

class CompressResponse(_message.Message):
    __slots__ = ("outcome", "conversation", "edits", "splices", "report", "summary", "compression_state")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    SPLICES_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_STATE_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    conversation: _conversation_pb2.Conversation
    edits: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Edit]
    splices: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Splice]
    report: CompressionReport
    summary: str
    compression_state: bytes
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., edits: _Optional[_Iterable[_Union[_conversation_pb2.Edit, _Mapping]]] = ..., splices: _Optional[_Iterable[_Union[_conversation_pb2.Splice, _Mapping]]] = ..., report: _Optional[_Union[CompressionReport, _Mapping]] = ..., summary: _Optional[str] = ..., compression_state: _Optional[bytes] = ...) -> None: ...

class CompressionPolicy(_message.Message):
    __slots__ = ("profile", "enabled", "threshold", "target_ratio", "protect_first_n", "protect_last_n", "prune_over_chars", "target_tokens", "system_note", "thinking", "alternation", "failure_policy", "summarizer", "summary_ratio", "summary_min_tokens", "summary_max_tokens", "prune_tool_arguments", "min_gain", "threshold_tokens", "redact")
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TARGET_RATIO_FIELD_NUMBER: _ClassVar[int]
    PROTECT_FIRST_N_FIELD_NUMBER: _ClassVar[int]
    PROTECT_LAST_N_FIELD_NUMBER: _ClassVar[int]
    PRUNE_OVER_CHARS_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_NOTE_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    ALTERNATION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_RATIO_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_MIN_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PRUNE_TOOL_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    MIN_GAIN_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REDACT_FIELD_NUMBER: _ClassVar[int]
    profile: Profile
    enabled: bool
    threshold: float
    target_ratio: float
    protect_first_n: int
    protect_last_n: int
    prune_over_chars: int
    target_tokens: int
    system_note: SystemNote
    thinking: ThinkingPolicy
    alternation: Alternation
    failure_policy: FailurePolicy
    summarizer: str
    summary_ratio: float
    summary_min_tokens: int
    summary_max_tokens: int
    prune_tool_arguments: bool
    min_gain: float
    threshold_tokens: int
    redact: bool
    def __init__(self, profile: _Optional[_Union[Profile, str]] = ..., enabled: _Optional[bool] = ..., threshold: _Optional[float] = ..., target_ratio: _Optional[float] = ..., protect_first_n: _Optional[int] = ..., protect_last_n: _Optional[int] = ..., prune_over_chars: _Optional[int] = ..., target_tokens: _Optional[int] = ..., system_note: _Optional[_Union[SystemNote, str]] = ..., thinking: _Optional[_Union[ThinkingPolicy, str]] = ..., alternation: _Optional[_Union[Alternation, str]] = ..., failure_policy: _Optional[_Union[FailurePolicy, str]] = ..., summarizer: _Optional[str] = ..., summary_ratio: _Optional[float] = ..., summary_min_tokens: _Optional[int] = ..., summary_max_tokens: _Optional[int] = ..., prune_tool_arguments: _Optional[bool] = ..., min_gain: _Optional[float] = ..., threshold_tokens: _Optional[int] = ..., redact: _Optional[bool] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("prompt_tokens", "completion_tokens", "message_count")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    completion_tokens: int
    message_count: int
    def __init__(self, prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., message_count: _Optional[int] = ...) -> None: ...

class CompressionReport(_message.Message):
    __slots__ = ("tokens_before", "tokens_after", "context_window", "threshold_tokens", "judged_tokens", "judged_by", "tail_budget_tokens", "summary_budget_tokens", "regions", "pruned", "repairs", "rung", "reason", "failed_rungs", "summary_tokens", "summary_index", "round", "messages_summarized", "thinking_removed", "first_changed_index", "messages_before", "messages_after", "summarizer_usage", "binding_constraint", "retry_after", "state", "warnings", "counted_by", "removed", "continuity", "fidelity", "redactions", "cache_effect")
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    JUDGED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    JUDGED_BY_FIELD_NUMBER: _ClassVar[int]
    TAIL_BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    REPAIRS_FIELD_NUMBER: _ClassVar[int]
    RUNG_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FAILED_RUNGS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_INDEX_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_SUMMARIZED_FIELD_NUMBER: _ClassVar[int]
    THINKING_REMOVED_FIELD_NUMBER: _ClassVar[int]
    FIRST_CHANGED_INDEX_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_BEFORE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_AFTER_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZER_USAGE_FIELD_NUMBER: _ClassVar[int]
    BINDING_CONSTRAINT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    COUNTED_BY_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    CONTINUITY_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_FIELD_NUMBER: _ClassVar[int]
    REDACTIONS_FIELD_NUMBER: _ClassVar[int]
    CACHE_EFFECT_FIELD_NUMBER: _ClassVar[int]
    tokens_before: int
    tokens_after: int
    context_window: int
    threshold_tokens: int
    judged_tokens: int
    judged_by: str
    tail_budget_tokens: int
    summary_budget_tokens: int
    regions: _containers.RepeatedCompositeFieldContainer[Region]
    pruned: _containers.RepeatedCompositeFieldContainer[PrunedItem]
    repairs: _containers.RepeatedCompositeFieldContainer[Repair]
    rung: Rung
    reason: str
    failed_rungs: _containers.RepeatedCompositeFieldContainer[FailedRung]
    summary_tokens: int
    summary_index: int
    round: int
    messages_summarized: int
    thinking_removed: int
    first_changed_index: int
    messages_before: int
    messages_after: int
    summarizer_usage: SummarizerUsage
    binding_constraint: str
    retry_after: _duration_pb2.Duration
    state: str
    warnings: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Warning]
    counted_by: str
    removed: RemovedContent
    continuity: Continuity
    fidelity: Fidelity
    redactions: _containers.RepeatedCompositeFieldContainer[Redaction]
    cache_effect: CacheEffect
    def __init__(self, tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., context_window: _Optional[int] = ..., threshold_tokens: _Optional[int] = ..., judged_tokens: _Optional[int] = ..., judged_by: _Optional[str] = ..., tail_budget_tokens: _Optional[int] = ..., summary_budget_tokens: _Optional[int] = ..., regions: _Optional[_Iterable[_Union[Region, _Mapping]]] = ..., pruned: _Optional[_Iterable[_Union[PrunedItem, _Mapping]]] = ..., repairs: _Optional[_Iterable[_Union[Repair, _Mapping]]] = ..., rung: _Optional[_Union[Rung, str]] = ..., reason: _Optional[str] = ..., failed_rungs: _Optional[_Iterable[_Union[FailedRung, _Mapping]]] = ..., summary_tokens: _Optional[int] = ..., summary_index: _Optional[int] = ..., round: _Optional[int] = ..., messages_summarized: _Optional[int] = ..., thinking_removed: _Optional[int] = ..., first_changed_index: _Optional[int] = ..., messages_before: _Optional[int] = ..., messages_after: _Optional[int] = ..., summarizer_usage: _Optional[_Union[SummarizerUsage, _Mapping]] = ..., binding_constraint: _Optional[str] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., state: _Optional[str] = ..., warnings: _Optional[_Iterable[_Union[_conversation_pb2.Warning, _Mapping]]] = ..., counted_by: _Optional[str] = ..., removed: _Optional[_Union[RemovedContent, _Mapping]] = ..., continuity: _Optional[_Union[Continuity, _Mapping]] = ..., fidelity: _Optional[_Union[Fidelity, _Mapping]] = ..., redactions: _Optional[_Iterable[_Union[Redaction, _Mapping]]] = ..., cache_effect: _Optional[_Union[CacheEffect, _Mapping]] = ...) -> None: ...

class CacheEffect(_message.Message):
    __slots__ = ("first_changed_byte", "kept_tokens", "rewritten_tokens", "saved_tokens", "summary_cost_tokens", "payback_turns", "read_multiple", "write_multiple", "advice", "planned")
    FIRST_CHANGED_BYTE_FIELD_NUMBER: _ClassVar[int]
    KEPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REWRITTEN_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SAVED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_COST_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PAYBACK_TURNS_FIELD_NUMBER: _ClassVar[int]
    READ_MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    WRITE_MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    PLANNED_FIELD_NUMBER: _ClassVar[int]
    first_changed_byte: int
    kept_tokens: int
    rewritten_tokens: int
    saved_tokens: int
    summary_cost_tokens: int
    payback_turns: int
    read_multiple: float
    write_multiple: float
    advice: str
    planned: bool
    def __init__(self, first_changed_byte: _Optional[int] = ..., kept_tokens: _Optional[int] = ..., rewritten_tokens: _Optional[int] = ..., saved_tokens: _Optional[int] = ..., summary_cost_tokens: _Optional[int] = ..., payback_turns: _Optional[int] = ..., read_multiple: _Optional[float] = ..., write_multiple: _Optional[float] = ..., advice: _Optional[str] = ..., planned: _Optional[bool] = ...) -> None: ...

class Continuity(_message.Message):
    __slots__ = ("result", "round", "key", "messages_covered")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_COVERED_FIELD_NUMBER: _ClassVar[int]
    result: ContinuityResult
    round: int
    key: str
    messages_covered: int
    def __init__(self, result: _Optional[_Union[ContinuityResult, str]] = ..., round: _Optional[int] = ..., key: _Optional[str] = ..., messages_covered: _Optional[int] = ...) -> None: ...

class Fidelity(_message.Message):
    __slots__ = ("facts", "kept", "repaired", "lost", "invented", "items")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    INVENTED_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    facts: int
    kept: int
    repaired: int
    lost: int
    invented: int
    items: _containers.RepeatedCompositeFieldContainer[FidelityItem]
    def __init__(self, facts: _Optional[int] = ..., kept: _Optional[int] = ..., repaired: _Optional[int] = ..., lost: _Optional[int] = ..., invented: _Optional[int] = ..., items: _Optional[_Iterable[_Union[FidelityItem, _Mapping]]] = ...) -> None: ...

class FidelityItem(_message.Message):
    __slots__ = ("fate", "kind", "text", "message_index")
    FATE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    fate: FactFate
    kind: str
    text: str
    message_index: int
    def __init__(self, fate: _Optional[_Union[FactFate, str]] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., message_index: _Optional[int] = ...) -> None: ...

class Redaction(_message.Message):
    __slots__ = ("kind", "count")
    KIND_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    kind: str
    count: int
    def __init__(self, kind: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class RemovedContent(_message.Message):
    __slots__ = ("messages", "tokens", "tool_calls", "tool_results", "media", "thinking_blocks")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    THINKING_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    messages: int
    tokens: int
    tool_calls: int
    tool_results: int
    media: int
    thinking_blocks: int
    def __init__(self, messages: _Optional[int] = ..., tokens: _Optional[int] = ..., tool_calls: _Optional[int] = ..., tool_results: _Optional[int] = ..., media: _Optional[int] = ..., thinking_blocks: _Optional[int] = ...) -> None: ...

class Region(_message.Message):
    __slots__ = ("kind", "start", "end", "tokens")
    KIND_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    kind: RegionKind
    start: int
    end: int
    tokens: int
    def __init__(self, kind: _Optional[_Union[RegionKind, str]] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class PrunedItem(_message.Message):
    __slots__ = ("message_index", "block_index", "kind", "tool", "chars_before", "chars_after")
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    CHARS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CHARS_AFTER_FIELD_NUMBER: _ClassVar[int]
    message_index: int
    block_index: int
    kind: PruneKind
    tool: str
    chars_before: int
    chars_after: int
    def __init__(self, message_index: _Optional[int] = ..., block_index: _Optional[int] = ..., kind: _Optional[_Union[PruneKind, str]] = ..., tool: _Optional[str] = ..., chars_before: _Optional[int] = ..., chars_after: _Optional[int] = ...) -> None: ...

class Repair(_message.Message):
    __slots__ = ("kind", "message_index", "tool_use_id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    kind: RepairKind
    message_index: int
    tool_use_id: str
    def __init__(self, kind: _Optional[_Union[RepairKind, str]] = ..., message_index: _Optional[int] = ..., tool_use_id: _Optional[str] = ...) -> None: ...

class FailedRung(_message.Message):
    __slots__ = ("summarizer", "reason", "code", "attempts")
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    summarizer: str
    reason: str
    code: str
    attempts: int
    def __init__(self, summarizer: _Optional[str] = ..., reason: _Optional[str] = ..., code: _Optional[str] = ..., attempts: _Optional[int] = ...) -> None: ...

class SummarizerUsage(_message.Message):
    __slots__ = ("summarizer", "calls", "prompt_tokens", "completion_tokens", "model", "reused")
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REUSED_FIELD_NUMBER: _ClassVar[int]
    summarizer: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    model: str
    reused: bool
    def __init__(self, summarizer: _Optional[str] = ..., calls: _Optional[int] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., model: _Optional[str] = ..., reused: _Optional[bool] = ...) -> None: ...

class StreamCompressRequest(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: CompressRequest
    def __init__(self, request: _Optional[_Union[CompressRequest, _Mapping]] = ...) -> None: ...

class StreamCompressResponse(_message.Message):
    __slots__ = ("progress", "summary_piece", "result")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_PIECE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: CompressProgress
    summary_piece: SummaryPiece
    result: CompressResponse
    def __init__(self, progress: _Optional[_Union[CompressProgress, _Mapping]] = ..., summary_piece: _Optional[_Union[SummaryPiece, _Mapping]] = ..., result: _Optional[_Union[CompressResponse, _Mapping]] = ...) -> None: ...

class CompressProgress(_message.Message):
    __slots__ = ("phase", "tokens", "summarized_tokens", "summarizer")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    phase: CompressPhase
    tokens: int
    summarized_tokens: int
    summarizer: str
    def __init__(self, phase: _Optional[_Union[CompressPhase, str]] = ..., tokens: _Optional[int] = ..., summarized_tokens: _Optional[int] = ..., summarizer: _Optional[str] = ...) -> None: ...

class SummaryPiece(_message.Message):
    __slots__ = ("text", "summarizer", "restart")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    text: str
    summarizer: str
    restart: bool
    def __init__(self, text: _Optional[str] = ..., summarizer: _Optional[str] = ..., restart: _Optional[bool] = ...) -> None: ...
