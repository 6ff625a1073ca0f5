"""A double of a model provider on loopback: OpenAI-shaped chat completions, plain and streamed, with every request kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = dict[str, Any]


class Provider:
    """Answers chat completions with what ``answer`` makes of their messages."""

    def __init__(self, answer: Callable[[list[Message]], Message]) -> None:
        self.bodies: list[str] = []
        """The text of each request, as it came."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(200, "application/json", b'{"object":"list","data":[]}')

            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if not self.path.endswith("/chat/completions"):
                    self._send(404, "application/json", b'{"error":{"message":"no such path"}}')
                    return
                provider.bodies.append(text)
                body = json.loads(text)
                message = answer(body["messages"])
                usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(json.dumps(message)) // 4}
                usage["total_tokens"] = sum(usage.values())
                if body.get("stream"):
                    self._send(200, "text/event-stream", streamed(body["model"], message, usage))
                else:
                    self._send(200, "application/json", json.dumps(completion(body["model"], message, usage)).encode())

            def _send(self, status: int, kind: str, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def completion(model: str, message: Message, usage: dict[str, int]) -> dict[str, Any]:
    """Return a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(message)}],
        "usage": usage,
    }


def streamed(model: str, message: Message, usage: dict[str, int]) -> bytes:
    """Return the same as server-sent events: the message in one piece, the finish, the usage."""
    calls = [{**call, "index": i} for i, call in enumerate(message.get("tool_calls", []))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish(message)}]},
        {**head, "choices": [], "usage": usage},
    ]
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n").encode()


def finish(message: Message) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
