"""A guardrail for the LiteLLM proxy that sends whole conversations to Elbowroom.

LiteLLM's own guardrail ``headroom`` sends whole conversations up to version 1.95. Later versions send some of the messages and
want the same number back, so nothing can be summarized through it. This one needs LiteLLM only. Put it beside ``config.yaml``:

    guardrails:
      - guardrail_name: elbowroom
        litellm_params:
          guardrail: elbowroom_guardrail.Elbowroom
          mode: pre_call
          api_base: http://127.0.0.1:8051
          default_on: true
"""

from __future__ import annotations

from typing import Any

import httpx
from litellm._logging import verbose_proxy_logger
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.llms.custom_httpx.http_handler import get_async_httpx_client, httpxSpecialProvider
from litellm.types.guardrails import GuardrailEventHooks

_CALLS = ("completion", "acompletion", "anthropic_messages")


class Elbowroom(CustomGuardrail):
    """Has long conversations compressed before they go to the model; the original goes on when that fails.

    Args:
        api_base: Where Elbowroom's HTTP port is.
        api_key: Token for it, where it wants one.
        model: Name of the model in Elbowroom's registry, for its tokenizer and window. Default: the request's.
        context_window: The window in tokens, for models that Elbowroom does not know. Default: what it knows.
        timeout: Seconds that a call may take. Default 30.
        common: What every guardrail of LiteLLM takes.
    """

    def __init__(
        self,
        api_base: str,
        api_key: str | None = None,
        model: str | None = None,
        context_window: int | None = None,
        timeout: float | None = None,
        **common: Any,
    ) -> None:
        self._url = api_base.rstrip("/") + "/v1/compress"
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {api_key}"} if api_key else {})}
        self._model, self._window, self._seconds = model, context_window, timeout or 30.0
        self._http = get_async_httpx_client(llm_provider=httpxSpecialProvider.GuardrailCallback)
        super().__init__(**common)

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,
        cache: Any,
        data: dict[str, Any],
        call_type: str,
    ) -> dict[str, Any]:
        """Replace the messages of a request by what Elbowroom makes of them."""
        if call_type not in _CALLS or not data.get("messages"):
            return data
        if not self.should_run_guardrail(data=data, event_type=GuardrailEventHooks.pre_call):
            return data
        request = {"messages": data["messages"], "model": self._model or data.get("model"), "context_window": self._window}
        try:
            reply = await self._http.post(url=self._url, json=request, headers=self._headers, timeout=self._seconds)
            reply.raise_for_status()
            answer = reply.json()
            data["messages"] = answer["messages"]
        except Exception as error:  # whatever it is, the caller's request is worth more than its compression
            text = error.response.text[:500] if isinstance(error, httpx.HTTPStatusError) else str(error)
            verbose_proxy_logger.error("elbowroom: the original goes on: %s: %s", type(error).__name__, text)
            return data
        verbose_proxy_logger.debug(
            "elbowroom: %s, %s tokens before, %s after", answer["outcome"], answer["tokens_before"], answer["tokens_after"]
        )
        return data
