"""Says where other people's packages place cache breakpoints, by running them. Nothing is sent anywhere.

Standard input: a request body a line, as {"peer": ..., "format": "anthropic" or "openai", "model": ..., "body": {...}}.
Standard output: a first line with the versions, then a line for each body: {"marks": [...]} or {"error": ...}.

A mark is {"section": "tools", "system", "messages" or "request", "message": ..., "block": ..., "ttl": ...}. Only places
are returned: a package writes the body anew in Python's way, and that shall not count against it.
"""

import importlib.metadata
import json
import os
import sys
import warnings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the package fetches a table when it is imported
os.environ["LANGSMITH_TRACING"] = "false"
warnings.simplefilter("ignore")  # they would be written for every request

from langchain.agents.middleware.types import ModelRequest
from langchain_anthropic import ChatAnthropic
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool
from litellm.integrations.anthropic_cache_control_hook import AnthropicCacheControlHook
from litellm.llms.openrouter.chat.transformation import OpenrouterConfig


def litellm(request):
    """litellm's cache_control_injection_points: the system prompt and the last message, which it also chooses by itself
    where its automatic prompt caching is on.

    Anthropic's form is what its /v1/messages route sends, OpenAI's what its chat route sends to OpenRouter.
    """
    body, hook = request["body"], AnthropicCacheControlHook()
    points = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]
    if request["format"] == "anthropic":
        messages, system, _ = hook.apply_to_anthropic_messages_request(body["messages"], body.get("system"), points)
        return {**body, "messages": messages, **({} if system is None else {"system": system})}
    _, messages, _ = hook.get_chat_completion_prompt(
        model="openrouter/anthropic/" + request["model"], messages=body["messages"],
        non_default_params={"cache_control_injection_points": points},
        prompt_id=None, prompt_variables=None, dynamic_callback_params={},
    )
    wire = OpenrouterConfig().transform_request("anthropic/" + request["model"], messages, {}, {}, {})
    return {**body, "messages": wire["messages"]}


chats = {}  # ChatAnthropic by model


def langchain(request):
    """LangChain's caching middleware, and the payload that ChatAnthropic makes of what it returns."""
    body = request["body"]
    model = chats.get(request["model"])
    if model is None:
        model = chats[request["model"]] = ChatAnthropic(model=request["model"], api_key="none", max_tokens=1024)
    roles = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
    tools = [
        tool if "input_schema" not in tool
        else StructuredTool(name=tool["name"], description=tool.get("description", ""), args_schema=tool["input_schema"], func=print)
        for tool in body.get("tools") or []
    ]
    payloads = []

    def handler(ready):
        settings = dict(ready.model_settings)
        bound = model.bind_tools(ready.tools, **settings) if ready.tools else model.bind(**settings)
        before = [ready.system_message] if ready.system_message else []
        payloads.append(model._get_request_payload(before + ready.messages, **bound.kwargs))

    AnthropicPromptCachingMiddleware().wrap_model_call(ModelRequest(
        model=model, messages=[roles[m["role"]](content=m["content"]) for m in body["messages"]], tools=tools,
        system_message=SystemMessage(content=body["system"]) if body.get("system") else None,
    ), handler)
    return payloads[0]


peers = {"litellm": litellm, "langchain": langchain}


def life(holder):
    return (holder.get("cache_control") or {}).get("ttl") or "5m"


def blocks(content):
    return content if isinstance(content, list) else [content] if content else []


def marks(marked, body):
    """The marks of a body that a package returned, at the places they have in the body it was given."""
    found = []

    def add(section, message, block, holder):
        if isinstance(holder, dict) and holder.get("cache_control"):
            found.append({"section": section, "message": message, "block": block, "ttl": life(holder)})

    for i, tool in enumerate(marked.get("tools") or []):
        add("tools", i, -1, tool)
    for j, block in enumerate(blocks(marked.get("system"))):
        add("system", 0, j, block)
    for i, message in enumerate(marked["messages"]):
        if message.get("cache_control"):
            raise ValueError(f"message {i} itself carries a mark")
        before = len(found)
        for j, block in enumerate(blocks(message.get("content"))):
            add("messages", i, j, block)
            if isinstance(block, dict) and any(isinstance(part, dict) and part.get("cache_control") for part in blocks(block.get("content"))):
                raise ValueError(f"message {i}, block {j}: a mark inside a tool result")
        if len(found) > before and (
            len(marked["messages"]) != len(body["messages"])
            or len(blocks(message["content"])) != max(1, len(blocks(body["messages"][i].get("content"))))
        ):
            raise ValueError(f"message {i} is marked and was put together anew")
    add("request", -1, -1, marked)
    return found


print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("litellm", "langchain-anthropic")), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"marks": marks(peers[request["peer"]](request), request["body"])}
    except Exception as failure:  # the package's or a form it does not know: the row says so
        answer = {"error": f"{type(failure).__name__}: {failure}"}
    print(json.dumps(answer), flush=True)
