from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SummaryFinish(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_FINISH_UNSPECIFIED: _ClassVar[SummaryFinish]
    SUMMARY_FINISH_STOP: _ClassVar[SummaryFinish]
    SUMMARY_FINISH_LENGTH: _ClassVar[SummaryFinish]
    SUMMARY_FINISH_REFUSAL: _ClassVar[SummaryFinish]
    SUMMARY_FINISH_OTHER: _ClassVar[SummaryFinish]
SUMMARY_FINISH_UNSPECIFIED: SummaryFinish
SUMMARY_FINISH_STOP: SummaryFinish
SUMMARY_FINISH_LENGTH: SummaryFinish
SUMMARY_FINISH_REFUSAL: SummaryFinish
SUMMARY_FINISH_OTHER: SummaryFinish

class SummarizeRequest(_message.Message):
    __slots__ = ("system", "prompt", "max_tokens")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    system: str
    prompt: str
    max_tokens: int
    def __init__(self, system: _Optional[str] = ..., prompt: _Optional[str] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class SummarizeResponse(_message.Message):
    __slots__ = ("text", "finish", "model", "prompt_tokens", "completion_tokens")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    text: str
    finish: SummaryFinish
    model: str
    prompt_tokens: int
    completion_tokens: int
    def __init__(self, text: _Optional[str] = ..., finish: _Optional[_Union[SummaryFinish, str]] = ..., model: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ...) -> None: ...
