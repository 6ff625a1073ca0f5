"""Counts texts with the Python package tiktoken. Arguments: the directory that holds the rank files, and the encoding.

The package downloads its ranks at run time. Here they are read from files, and everything else of the encoding (the
split pattern, the pinned hash of the ranks) comes from the package itself.

Standard input: texts, each as its length in bytes (4 bytes, big-endian) and its UTF-8. Standard output: a first line
with the versions, then for each text one line: its tokens (-1: the package failed) and the CPU time of counting it in microseconds.
"""

import importlib.metadata
import os
import platform
import resource
import struct
import sys

os.environ["TIKTOKEN_CACHE_DIR"] = ""  # no cache: the files are local

import tiktoken
import tiktoken.load
import tiktoken_ext.openai_public as published

directory, encoding = sys.argv[1:]


def load_from_directory(url, expected_hash):
    path = os.path.join(directory, url.rsplit("/", 1)[1])
    if not tiktoken.load.check_hash(tiktoken.load.read_file(path), expected_hash):
        sys.exit(f"{path} is not the file whose hash tiktoken pins")
    return tiktoken.load.load_tiktoken_bpe(path)


published.load_tiktoken_bpe = load_from_directory
tokens = tiktoken.Encoding(**getattr(published, encoding)())


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


print(f"Python tiktoken {importlib.metadata.version('tiktoken')}, Python {platform.python_version()}", flush=True)
while header := sys.stdin.buffer.read(4):
    (length,) = struct.unpack(">I", header)
    text = sys.stdin.buffer.read(length).decode("utf-8")
    before = cpu_seconds()
    try:
        count = len(tokens.encode_ordinary(text))
    except BaseException as failure:  # a panic of the Rust code is no Exception
        if type(failure).__name__ != "PanicException":
            raise
        count = -1
    used = cpu_seconds() - before
    print(count, round(used * 1e6), flush=True)
