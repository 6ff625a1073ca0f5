"""The generated stubs say what the published descriptors say, so they are not stale."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from conftest import REPOSITORY
from google.protobuf import descriptor_pb2

DESCRIPTORS = REPOSITORY / "gen" / "descriptor" / "elbowroom.binpb"


def plain(file: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """Leave out what generate.sh takes out, and what is derived."""
    out = descriptor_pb2.FileDescriptorProto()
    out.CopyFrom(file)
    out.ClearField("source_code_info")
    out.dependency[:] = [name for name in out.dependency if not name.startswith("buf/")]
    for message in out.message_type:
        strip(message)
    return out


def strip(message: Any) -> None:
    message.ClearField("options")
    for part in (*message.field, *message.oneof_decl):
        part.ClearField("options")
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        if not nested.options.map_entry:
            strip(nested)


def test_stubs_are_what_the_descriptors_generate() -> None:
    published = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes())
    own = [file for file in published.file if file.package == "elbowroom.v1"]
    assert len(own) >= 7
    for file in own:
        module = importlib.import_module(file.name.replace("/", ".").removesuffix(".proto") + "_pb2")
        generated = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        assert plain(generated) == plain(file), f"{file.name}: run clients/python/generate.sh"


def test_no_package_of_another_project_is_installed() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("buf.validate")
