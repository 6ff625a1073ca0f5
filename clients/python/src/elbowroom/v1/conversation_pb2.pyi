from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORMAT_UNSPECIFIED: _ClassVar[Format]
    FORMAT_OPENAI_CHAT: _ClassVar[Format]
    FORMAT_ANTHROPIC_MESSAGES: _ClassVar[Format]
    FORMAT_BEDROCK_CONVERSE: _ClassVar[Format]

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_SYSTEM: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]

class CacheTtl(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_TTL_UNSPECIFIED: _ClassVar[CacheTtl]
    CACHE_TTL_5M: _ClassVar[CacheTtl]
    CACHE_TTL_1H: _ClassVar[CacheTtl]
    CACHE_TTL_30M: _ClassVar[CacheTtl]

class View(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VIEW_UNSPECIFIED: _ClassVar[View]
    VIEW_FULL: _ClassVar[View]
    VIEW_EDITS: _ClassVar[View]
    VIEW_SPLICES: _ClassVar[View]

class Section(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECTION_UNSPECIFIED: _ClassVar[Section]
    SECTION_SYSTEM: _ClassVar[Section]
    SECTION_TOOLS: _ClassVar[Section]
    SECTION_MESSAGES: _ClassVar[Section]
    SECTION_BODY: _ClassVar[Section]
FORMAT_UNSPECIFIED: Format
FORMAT_OPENAI_CHAT: Format
FORMAT_ANTHROPIC_MESSAGES: Format
FORMAT_BEDROCK_CONVERSE: Format
ROLE_UNSPECIFIED: Role
ROLE_SYSTEM: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role
CACHE_TTL_UNSPECIFIED: CacheTtl
CACHE_TTL_5M: CacheTtl
CACHE_TTL_1H: CacheTtl
CACHE_TTL_30M: CacheTtl
VIEW_UNSPECIFIED: View
VIEW_FULL: View
VIEW_EDITS: View
VIEW_SPLICES: View
SECTION_UNSPECIFIED: Section
SECTION_SYSTEM: Section
SECTION_TOOLS: Section
SECTION_MESSAGES: Section
SECTION_BODY: Section

class Conversation(_message.Message):
    __slots__ = ("messages", "tools", "native")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    native: NativeRequest
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., native: _Optional[_Union[NativeRequest, _Mapping]] = ...) -> None: ...

class NativeRequest(_message.Message):
    __slots__ = ("format", "json", "json_bytes", "delta", "keep")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    JSON_BYTES_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    format: Format
    json: str
    json_bytes: bytes
    delta: NativeDelta
    keep: bool
    def __init__(self, format: _Optional[_Union[Format, str]] = ..., json: _Optional[str] = ..., json_bytes: _Optional[bytes] = ..., delta: _Optional[_Union[NativeDelta, _Mapping]] = ..., keep: _Optional[bool] = ...) -> None: ...

class NativeDelta(_message.Message):
    __slots__ = ("base", "splices")
    BASE_FIELD_NUMBER: _ClassVar[int]
    SPLICES_FIELD_NUMBER: _ClassVar[int]
    base: bytes
    splices: _containers.RepeatedCompositeFieldContainer[Splice]
    def __init__(self, base: _Optional[bytes] = ..., splices: _Optional[_Iterable[_Union[Splice, _Mapping]]] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("role", "blocks", "name")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    role: Role
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    name: str
    def __init__(self, role: _Optional[_Union[Role, str]] = ..., blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ..., name: _Optional[str] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("text", "tool_use", "tool_result", "media", "thinking", "opaque_json", "cache_control")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    OPAQUE_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_CONTROL_FIELD_NUMBER: _ClassVar[int]
    text: str
    tool_use: ToolUse
    tool_result: ToolResult
    media: Media
    thinking: Thinking
    opaque_json: str
    cache_control: CacheControl
    def __init__(self, text: _Optional[str] = ..., tool_use: _Optional[_Union[ToolUse, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResult, _Mapping]] = ..., media: _Optional[_Union[Media, _Mapping]] = ..., thinking: _Optional[_Union[Thinking, _Mapping]] = ..., opaque_json: _Optional[str] = ..., cache_control: _Optional[_Union[CacheControl, _Mapping]] = ...) -> None: ...

class ToolUse(_message.Message):
    __slots__ = ("id", "name", "input_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    input_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., input_json: _Optional[str] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("tool_use_id", "blocks", "is_error")
    TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    tool_use_id: str
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    is_error: bool
    def __init__(self, tool_use_id: _Optional[str] = ..., blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ..., is_error: _Optional[bool] = ...) -> None: ...

class Media(_message.Message):
    __slots__ = ("mime_type", "data", "uri", "width", "height")
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    mime_type: str
    data: bytes
    uri: str
    width: int
    height: int
    def __init__(self, mime_type: _Optional[str] = ..., data: _Optional[bytes] = ..., uri: _Optional[str] = ..., width: _Optional[int] = ..., height: _Optional[int] = ...) -> None: ...

class Thinking(_message.Message):
    __slots__ = ("text", "signature")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    text: str
    signature: str
    def __init__(self, text: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...

class CacheControl(_message.Message):
    __slots__ = ("ttl",)
    TTL_FIELD_NUMBER: _ClassVar[int]
    ttl: CacheTtl
    def __init__(self, ttl: _Optional[_Union[CacheTtl, str]] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ("name", "description", "input_schema_json", "cache_control")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_CONTROL_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema_json: str
    cache_control: CacheControl
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema_json: _Optional[str] = ..., cache_control: _Optional[_Union[CacheControl, _Mapping]] = ...) -> None: ...

class Edit(_message.Message):
    __slots__ = ("section", "keep", "replace", "insert", "drop")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    INSERT_FIELD_NUMBER: _ClassVar[int]
    DROP_FIELD_NUMBER: _ClassVar[int]
    section: Section
    keep: KeepEdit
    replace: ReplaceEdit
    insert: InsertEdit
    drop: DropEdit
    def __init__(self, section: _Optional[_Union[Section, str]] = ..., keep: _Optional[_Union[KeepEdit, _Mapping]] = ..., replace: _Optional[_Union[ReplaceEdit, _Mapping]] = ..., insert: _Optional[_Union[InsertEdit, _Mapping]] = ..., drop: _Optional[_Union[DropEdit, _Mapping]] = ...) -> None: ...

class KeepEdit(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class ReplaceEdit(_message.Message):
    __slots__ = ("index", "json", "message", "tool")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    index: int
    json: str
    message: Message
    tool: Tool
    def __init__(self, index: _Optional[int] = ..., json: _Optional[str] = ..., message: _Optional[_Union[Message, _Mapping]] = ..., tool: _Optional[_Union[Tool, _Mapping]] = ...) -> None: ...

class InsertEdit(_message.Message):
    __slots__ = ("json", "message")
    JSON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    json: str
    message: Message
    def __init__(self, json: _Optional[str] = ..., message: _Optional[_Union[Message, _Mapping]] = ...) -> None: ...

class DropEdit(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Splice(_message.Message):
    __slots__ = ("offset", "length", "text")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    offset: int
    length: int
    text: str
    def __init__(self, offset: _Optional[int] = ..., length: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("code", "message_index", "detail")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    code: str
    message_index: int
    detail: str
    def __init__(self, code: _Optional[str] = ..., message_index: _Optional[int] = ..., detail: _Optional[str] = ...) -> None: ...
