"""Doubles of the providers' wires. They check every request as strictly as the providers do, and a little more.

A request that breaks a rule is answered with status 400 and noted in ``complaints``; the SDKs then raise.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

Reply = Callable[[dict[str, Any]], Any]
"""Makes the reply to a request: the content blocks or the message, as the provider would write it."""


class Rejected(Exception):
    """The provider would answer 400."""


def demand(condition: bool, complaint: str) -> None:
    if not condition:
        raise Rejected(complaint)


class Provider:
    """What both wires have in common: the server, the usage, and the prefix that must not change."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.requests: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.complaints: list[str] = []
        self.prefix_breaks: list[int] = []
        """Numbers of the requests that did not extend the one before them."""
        self.url = ""
        self._seen: list[str] = []

    def answer(self, raw: bytes) -> tuple[int, dict[str, Any]]:
        request = json.loads(raw)
        try:
            self.check(request)
        except Rejected as error:
            self.complaints.append(f"request {len(self.requests)}: {error}")
            return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}
        lines = self.prompt(request)
        shared = next(
            (i for i, (a, b) in enumerate(zip(lines, self._seen, strict=False)) if a != b), min(len(lines), len(self._seen))
        )
        if self._seen and shared < len(self._seen):
            self.prefix_breaks.append(len(self.requests))
        self._seen = lines
        self.requests.append(request)
        self.raw.append(raw)
        read = tokens(lines[:shared])
        return 200, self.wrap(request, self.reply(request), read, tokens(lines) - read)

    def prompt(self, request: dict[str, Any]) -> list[str]:
        """The request as its cache sees it: tools, system and messages without marks, one text block as its text."""
        head = [json.dumps([unmarked(request.get("tools")), unmarked(request.get("system"))])]
        return head + [json.dumps(unmarked(message)) for message in request["messages"]]

    def check(self, request: dict[str, Any]) -> None:
        raise NotImplementedError

    def wrap(self, request: dict[str, Any], reply: Any, read: int, new: int) -> dict[str, Any]:
        raise NotImplementedError


def tokens(lines: list[str]) -> int:
    return sum(len(line) for line in lines) // 4


def unmarked(value: Any) -> Any:
    if isinstance(value, list):
        plain = [unmarked(item) for item in value]
        if len(plain) == 1 and isinstance(plain[0], dict) and set(plain[0]) == {"type", "text"}:
            return plain[0]["text"]
        return plain
    if isinstance(value, dict):
        return {name: unmarked(inner) for name, inner in value.items() if name != "cache_control"}
    return value


def marks(value: Any) -> Iterator[dict[str, Any]]:
    """Everything that carries a mark, in prompt order."""
    if isinstance(value, list):
        for item in value:
            yield from marks(item)
    elif isinstance(value, dict):
        for name in ("tools", "system", "messages", "content"):
            yield from marks(value.get(name))
        if "cache_control" in value:
            yield value


def check_marks(request: dict[str, Any]) -> None:
    marked = list(marks(request))
    demand(len(marked) <= 4, f"{len(marked)} blocks carry cache_control, at most 4 may")
    short = False
    for block in marked:
        demand(block.get("type") not in ("thinking", "redacted_thinking"), "cache_control on thinking")
        demand(block.get("text") != "", "cache_control on an empty text")
        ttl = block["cache_control"].get("ttl", "5m")
        demand(block["cache_control"]["type"] == "ephemeral" and ttl in ("5m", "1h"), "unknown cache_control")
        demand(not (short and ttl == "1h"), "a 1h mark behind a 5m mark")
        short = short or ttl == "5m"


class AnthropicDouble(Provider):
    """``POST /v1/messages``."""

    path = "/v1/messages"

    def __init__(self, reply: Reply, *, bound: bool = False) -> None:
        """``bound``: a signature covers everything before its block, as on the newest models."""
        super().__init__(reply)
        self.bound = bound
        self.issued: dict[str, Any] = {}
        """Signed thinking that this double has written, by its signature."""
        self.prompts: dict[str, list[str]] = {}
        """What each signature covers."""
        self.last: list[dict[str, Any]] = []

    def check(self, request: dict[str, Any]) -> None:
        demand(isinstance(request.get("model"), str) and request.get("max_tokens", 0) > 0, "model and max_tokens are required")
        messages = request["messages"]
        demand(bool(messages), "messages: at least one message is required")
        demand(messages[0]["role"] == "user", "messages: first message must use the user role")
        demand(messages[-1]["role"] == "user", "messages: the conversation must end with a user message")
        pending: list[str] = []
        for index, message in enumerate(messages):
            demand(message["role"] in ("user", "assistant"), f"messages.{index}: unknown role")
            blocks = self._blocks(index, message["content"])
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if message["role"] == "assistant":
                demand(not pending and not results, f"messages.{index}: tool_use without tool_result right after it")
                pending = [block["id"] for block in blocks if block["type"] == "tool_use"]
                demand(len(set(pending)) == len(pending), f"messages.{index}: tool_use ids must be unique")
            else:
                demand(sorted(results) == sorted(pending), f"messages.{index}: results {results} for calls {pending}")
                kinds = [block["type"] == "tool_result" for block in blocks]
                demand(kinds == sorted(kinds, reverse=True), f"messages.{index}: tool_result blocks must come first")
                pending = []
        demand(not pending, "messages: a call without a result")
        check_marks(request)
        if self.bound:
            self._check_bindings(request)
        else:
            self._check_running_loop(messages)

    def _blocks(self, index: int, content: Any) -> list[dict[str, Any]]:
        demand(bool(content), f"messages.{index}: content is empty")
        if isinstance(content, str):
            demand(bool(content.strip()), f"messages.{index}: text must contain non-whitespace")
            return [{"type": "text", "text": content}]
        for block in content:
            kind = block["type"]
            demand(
                kind in ("text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"),
                f"messages.{index}: unknown block {kind}",
            )
            if kind == "text":
                demand(bool(block["text"].strip()), f"messages.{index}: text must contain non-whitespace")
            if kind == "thinking":
                known = self.issued.get(block.get("signature", ""))
                demand(known == block, f"messages.{index}: thinking blocks cannot be modified")
            if kind == "tool_use":
                demand(isinstance(block["input"], dict), f"messages.{index}: input must be an object")
        return list(content)

    def _check_bindings(self, request: dict[str, Any]) -> None:
        lines = self.prompt(request)
        for index, message in enumerate(request["messages"]):
            for block in message["content"] if message["role"] == "assistant" and isinstance(message["content"], list) else ():
                if block["type"] == "thinking":
                    covered = self.prompts[block["signature"]]
                    demand(lines[: index + 1] == covered, f"messages.{index}: the block is bound to a different conversation")

    def _check_running_loop(self, messages: list[dict[str, Any]]) -> None:
        """While the model waits for results, its last message keeps all its blocks."""
        answers = messages[-1]["content"]
        if isinstance(answers, list) and any(block["type"] == "tool_result" for block in answers) and self.last:
            last = next(message for message in reversed(messages) if message["role"] == "assistant")
            kept = [block for block in unmarked_blocks(last["content"]) if block["type"].endswith("thinking")]
            wanted = [block for block in self.last if block["type"].endswith("thinking")]
            demand(kept == wanted, "thinking of the latest assistant message must remain as it was")

    def wrap(self, request: dict[str, Any], reply: Any, read: int, new: int) -> dict[str, Any]:
        self.last = reply
        self.issued |= {block["signature"]: block for block in reply if block["type"] == "thinking"}
        self.prompts |= {block["signature"]: self.prompt(request) for block in reply if block["type"] == "thinking"}
        calls = any(block["type"] == "tool_use" for block in reply)
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": reply,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 3,
                "cache_creation_input_tokens": max(new - 3, 0),
                "cache_read_input_tokens": read,
                "output_tokens": len(json.dumps(reply)) // 4,
            },
        }


def unmarked_blocks(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in content]


class OpenAIDouble(Provider):
    """``POST /v1/chat/completions``."""

    path = "/v1/chat/completions"

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply)
        self.reasoning: set[str] = set()

    def check(self, request: dict[str, Any]) -> None:
        demand(isinstance(request.get("model"), str), "model is required")
        messages = request["messages"]
        demand(bool(messages), "messages must not be empty")
        pending: list[str] = []
        for index, message in enumerate(messages):
            role, content = message["role"], message.get("content")
            where = f"messages[{index}]"
            if role == "tool":
                demand(message["tool_call_id"] in pending, f"{where}: a tool message must follow its tool call")
                pending.remove(message["tool_call_id"])
                demand(isinstance(content, str | list), f"{where}: a tool message has content")
                continue
            demand(not pending, f"{where}: calls {pending} have no results")
            demand(role in ("system", "developer", "user", "assistant"), f"{where}: unknown role {role}")
            calls = message.get("tool_calls")
            if role != "assistant":
                demand(calls is None and bool(content), f"{where}: {role} needs content")
                continue
            demand(calls is None or bool(calls), f"{where}: tool_calls is empty")
            demand(bool(content) or bool(calls), f"{where}: neither content nor calls")
            for call in calls or ():
                json.loads(call["function"]["arguments"])
            pending = [call["id"] for call in calls or ()]
            thought = message.get("reasoning_content")
            demand(thought is None or thought in self.reasoning, f"{where}: reasoning_content was changed")
        demand(not pending, "the last calls have no results")
        demand(messages[-1]["role"] != "assistant", "nothing to answer")
        check_marks(request)

    def wrap(self, request: dict[str, Any], reply: Any, read: int, new: int) -> dict[str, Any]:
        if reply.get("reasoning_content"):
            self.reasoning.add(reply["reasoning_content"])
        completion = len(json.dumps(reply)) // 4
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": reply,
                    "finish_reason": "tool_calls" if reply.get("tool_calls") else "stop",
                    "logprobs": None,
                }
            ],
            "usage": {
                "prompt_tokens": read + new,
                "completion_tokens": completion,
                "total_tokens": read + new + completion,
                "prompt_tokens_details": {"cached_tokens": read},
            },
        }


@contextlib.contextmanager
def listen(provider: AnthropicDouble | OpenAIDouble) -> Iterator[str]:
    """Serve a double on a loopback port and yield its base address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            status, body = (404, {}) if self.path != provider.path else provider.answer(raw)
            out = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
