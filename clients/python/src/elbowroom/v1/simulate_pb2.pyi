from elbowroom.v1 import cache_pb2 as _cache_pb2
from elbowroom.v1 import conversation_pb2 as _conversation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PositionCounting(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POSITION_COUNTING_UNSPECIFIED: _ClassVar[PositionCounting]
    POSITION_COUNTING_DOCUMENTED: _ClassVar[PositionCounting]
    POSITION_COUNTING_COLLAPSED: _ClassVar[PositionCounting]
    POSITION_COUNTING_RAW: _ClassVar[PositionCounting]

class FindingSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINDING_SEVERITY_UNSPECIFIED: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_INFO: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_WARNING: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_ERROR: _ClassVar[FindingSeverity]

class FindingEvidence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINDING_EVIDENCE_UNSPECIFIED: _ClassVar[FindingEvidence]
    FINDING_EVIDENCE_BYTES: _ClassVar[FindingEvidence]
    FINDING_EVIDENCE_RULES: _ClassVar[FindingEvidence]
    FINDING_EVIDENCE_BILL: _ClassVar[FindingEvidence]
POSITION_COUNTING_UNSPECIFIED: PositionCounting
POSITION_COUNTING_DOCUMENTED: PositionCounting
POSITION_COUNTING_COLLAPSED: PositionCounting
POSITION_COUNTING_RAW: PositionCounting
FINDING_SEVERITY_UNSPECIFIED: FindingSeverity
FINDING_SEVERITY_INFO: FindingSeverity
FINDING_SEVERITY_WARNING: FindingSeverity
FINDING_SEVERITY_ERROR: FindingSeverity
FINDING_EVIDENCE_UNSPECIFIED: FindingEvidence
FINDING_EVIDENCE_BYTES: FindingEvidence
FINDING_EVIDENCE_RULES: FindingEvidence
FINDING_EVIDENCE_BILL: FindingEvidence

class SimulateCacheRequest(_message.Message):
    __slots__ = ("requests", "model", "layout", "counting", "price_date", "price", "omit_excerpts", "estimate_only")
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    COUNTING_FIELD_NUMBER: _ClassVar[int]
    PRICE_DATE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    OMIT_EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[SimulatedRequest]
    model: str
    layout: _cache_pb2.Layout
    counting: PositionCounting
    price_date: str
    price: CachePrice
    omit_excerpts: bool
    estimate_only: bool
    def __init__(self, requests: _Optional[_Iterable[_Union[SimulatedRequest, _Mapping]]] = ..., model: _Optional[str] = ..., layout: _Optional[_Union[_cache_pb2.Layout, str]] = ..., counting: _Optional[_Union[PositionCounting, str]] = ..., price_date: _Optional[str] = ..., price: _Optional[_Union[CachePrice, _Mapping]] = ..., omit_excerpts: _Optional[bool] = ..., estimate_only: _Optional[bool] = ...) -> None: ...

class SimulatedRequest(_message.Message):
    __slots__ = ("conversation", "start_ms", "first_token_ms", "duration_ms", "model", "layout", "scope", "thread", "billed")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    THREAD_FIELD_NUMBER: _ClassVar[int]
    BILLED_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    start_ms: int
    first_token_ms: int
    duration_ms: int
    model: str
    layout: _cache_pb2.Layout
    scope: str
    thread: str
    billed: BilledUsage
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., start_ms: _Optional[int] = ..., first_token_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ..., model: _Optional[str] = ..., layout: _Optional[_Union[_cache_pb2.Layout, str]] = ..., scope: _Optional[str] = ..., thread: _Optional[str] = ..., billed: _Optional[_Union[BilledUsage, _Mapping]] = ...) -> None: ...

class BilledUsage(_message.Message):
    __slots__ = ("uncached_tokens", "read_tokens", "write_5m_tokens", "write_1h_tokens", "write_tokens")
    UNCACHED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_5M_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_1H_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    uncached_tokens: int
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    write_tokens: int
    def __init__(self, uncached_tokens: _Optional[int] = ..., read_tokens: _Optional[int] = ..., write_5m_tokens: _Optional[int] = ..., write_1h_tokens: _Optional[int] = ..., write_tokens: _Optional[int] = ...) -> None: ...

class CachePrice(_message.Message):
    __slots__ = ("input", "read", "write_5m", "write_1h", "write", "date", "source", "relative")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    WRITE_5M_FIELD_NUMBER: _ClassVar[int]
    WRITE_1H_FIELD_NUMBER: _ClassVar[int]
    WRITE_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    RELATIVE_FIELD_NUMBER: _ClassVar[int]
    input: float
    read: float
    write_5m: float
    write_1h: float
    write: float
    date: str
    source: str
    relative: bool
    def __init__(self, input: _Optional[float] = ..., read: _Optional[float] = ..., write_5m: _Optional[float] = ..., write_1h: _Optional[float] = ..., write: _Optional[float] = ..., date: _Optional[str] = ..., source: _Optional[str] = ..., relative: _Optional[bool] = ...) -> None: ...

class SimulateCacheResponse(_message.Message):
    __slots__ = ("turns", "total", "cost", "no_cache_cost", "agreement", "estimated")
    TURNS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    NO_CACHE_COST_FIELD_NUMBER: _ClassVar[int]
    AGREEMENT_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    turns: _containers.RepeatedCompositeFieldContainer[SimulatedTurn]
    total: CacheSplit
    cost: CacheCost
    no_cache_cost: CacheCost
    agreement: float
    estimated: bool
    def __init__(self, turns: _Optional[_Iterable[_Union[SimulatedTurn, _Mapping]]] = ..., total: _Optional[_Union[CacheSplit, _Mapping]] = ..., cost: _Optional[_Union[CacheCost, _Mapping]] = ..., no_cache_cost: _Optional[_Union[CacheCost, _Mapping]] = ..., agreement: _Optional[float] = ..., estimated: _Optional[bool] = ...) -> None: ...

class SimulatedTurn(_message.Message):
    __slots__ = ("split", "cost", "breakpoints", "rejection", "findings", "layout", "price")
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    BREAKPOINTS_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    split: CacheSplit
    cost: CacheCost
    breakpoints: _containers.RepeatedCompositeFieldContainer[_cache_pb2.Breakpoint]
    rejection: str
    findings: _containers.RepeatedCompositeFieldContainer[CacheFinding]
    layout: _cache_pb2.Layout
    price: CachePrice
    def __init__(self, split: _Optional[_Union[CacheSplit, _Mapping]] = ..., cost: _Optional[_Union[CacheCost, _Mapping]] = ..., breakpoints: _Optional[_Iterable[_Union[_cache_pb2.Breakpoint, _Mapping]]] = ..., rejection: _Optional[str] = ..., findings: _Optional[_Iterable[_Union[CacheFinding, _Mapping]]] = ..., layout: _Optional[_Union[_cache_pb2.Layout, str]] = ..., price: _Optional[_Union[CachePrice, _Mapping]] = ...) -> None: ...

class CacheSplit(_message.Message):
    __slots__ = ("prompt_tokens", "read_tokens", "write_5m_tokens", "write_1h_tokens", "write_tokens", "uncached_tokens")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_5M_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_1H_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    UNCACHED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    write_tokens: int
    uncached_tokens: int
    def __init__(self, prompt_tokens: _Optional[int] = ..., read_tokens: _Optional[int] = ..., write_5m_tokens: _Optional[int] = ..., write_1h_tokens: _Optional[int] = ..., write_tokens: _Optional[int] = ..., uncached_tokens: _Optional[int] = ...) -> None: ...

class CacheCost(_message.Message):
    __slots__ = ("usd", "base_tokens")
    USD_FIELD_NUMBER: _ClassVar[int]
    BASE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    usd: float
    base_tokens: float
    def __init__(self, usd: _Optional[float] = ..., base_tokens: _Optional[float] = ...) -> None: ...

class CacheFinding(_message.Message):
    __slots__ = ("code", "severity", "evidence", "section", "path", "byte_offset", "before", "after", "tokens_lost", "cost", "cost_per_turn", "detail", "fix")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    BYTE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    TOKENS_LOST_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    COST_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    code: str
    severity: FindingSeverity
    evidence: FindingEvidence
    section: _conversation_pb2.Section
    path: str
    byte_offset: int
    before: str
    after: str
    tokens_lost: int
    cost: CacheCost
    cost_per_turn: CacheCost
    detail: str
    fix: str
    def __init__(self, code: _Optional[str] = ..., severity: _Optional[_Union[FindingSeverity, str]] = ..., evidence: _Optional[_Union[FindingEvidence, str]] = ..., section: _Optional[_Union[_conversation_pb2.Section, str]] = ..., path: _Optional[str] = ..., byte_offset: _Optional[int] = ..., before: _Optional[str] = ..., after: _Optional[str] = ..., tokens_lost: _Optional[int] = ..., cost: _Optional[_Union[CacheCost, _Mapping]] = ..., cost_per_turn: _Optional[_Union[CacheCost, _Mapping]] = ..., detail: _Optional[str] = ..., fix: _Optional[str] = ..., **kwargs) -> None: ...
