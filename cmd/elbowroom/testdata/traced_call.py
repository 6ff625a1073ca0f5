"""Compresses the conversation in a file by the Python client, inside a span, and prints the span's ids.

Arguments: address of the server, file. The test that runs it holds the server's spans against the ids.
"""

import json
import sys

from elbowroom import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

address, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    messages = json.load(file)
trace.set_tracer_provider(TracerProvider())
with trace.get_tracer("agent").start_as_current_span("turn") as span, Client(address) as client:
    result = client.compress(messages, format="openai_chat", model="gpt-4o", force=True, context_window=32_000)
    ids = span.get_span_context()
print(json.dumps({"trace": f"{ids.trace_id:032x}", "span": f"{ids.span_id:016x}", "outcome": result.outcome}))
