"""A summarizer plug-in for Elbowroom: it passes prompts on to an OpenAI-compatible model server. See README.md."""

import json
import os
import urllib.error
import urllib.request
from concurrent import futures

import grpc
from elbowroom.v1 import summarizer_pb2, summarizer_pb2_grpc
from grpc_health.v1 import health, health_pb2_grpc

SERVER = os.environ.get("MODEL_SERVER", "http://127.0.0.1:8080/v1")
FINISH = {"stop": "SUMMARY_FINISH_STOP", "length": "SUMMARY_FINISH_LENGTH", "content_filter": "SUMMARY_FINISH_REFUSAL"}
CODES = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 400: "INVALID_ARGUMENT"}


class Summarizer(summarizer_pb2_grpc.SummarizerServiceServicer):
    def Summarize(self, request, context):
        messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}]
        body = {"model": os.environ.get("MODEL", "default"), "max_tokens": request.max_tokens, "messages": messages}
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("MODEL_KEY", "none")}
        call = urllib.request.Request(SERVER + "/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(call, timeout=min(context.time_remaining() or 300, 300)) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            context.abort(grpc.StatusCode[CODES.get(error.code, "UNAVAILABLE")], f"status {error.code}")
        except OSError as error:
            context.abort(grpc.StatusCode.UNAVAILABLE, type(error).__name__)
        choice, usage = answer["choices"][0], answer.get("usage", {})
        return summarizer_pb2.SummarizeResponse(
            text=choice["message"]["content"] or "",
            finish=FINISH.get(choice["finish_reason"], "SUMMARY_FINISH_OTHER"),
            model=answer.get("model", ""),
            prompt_tokens=usage.get("prompt_tokens", 0),
            completion_tokens=usage.get("completion_tokens", 0),
        )


if __name__ == "__main__":
    server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", 64 << 20)])
    summarizer_pb2_grpc.add_SummarizerServiceServicer_to_server(Summarizer(), server)
    health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)  # optional: says that it serves
    server.add_insecure_port(os.environ.get("LISTEN", "127.0.0.1:50071"))
    server.start()
    server.wait_for_termination()
