"""LiteLLM's own guardrail ``headroom`` in the line of versions where it sends the whole conversation (up to 1.95)."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest
import talk
from judge import judge, report
from provider import Provider
from proxy import Caller, Proxy, Refused, snippet
from service import Service

# `strict` is what docs/http.md shows, with LiteLLM's default for failures.
CONFIG = """
model_list:
  - model_name: assistant
    litellm_params:
      model: openai/any-model
      api_base: {provider}
      api_key: unused
{documented}
  - guardrail_name: strict
    litellm_params:
      guardrail: headroom
      mode: pre_call
      api_base: http://{elbowroom}
      model: gpt-4
"""


class Setting:
    """Service, provider and proxy, from a caller's side to the other."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.service = Service()
        self.provider = Provider(talk.answer)
        elbowroom = self.service.http
        # gpt-4 has the smallest window of the known models, 8,192 tokens.
        documented = snippet("guardrail: headroom", ("127.0.0.1:8051", elbowroom), ("model: gpt-4o", "model: gpt-4"))
        self.proxy = Proxy(folder, CONFIG.format(provider=self.provider.url, elbowroom=elbowroom, documented=documented))

    def close(self) -> None:
        self.proxy.close()
        self.provider.close()
        self.service.stop()


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    setting = Setting(tmp_path_factory.mktemp("proxy"))
    yield setting
    setting.close()


@pytest.fixture
def caller(setting: Setting) -> Caller:
    setting.provider.bodies.clear()
    return Caller(setting.proxy)


def test_a_long_conversation_is_compressed_and_its_prefix_stays(setting: Setting, caller: Caller) -> None:
    for turn in range(1, talk.TURNS + 1):
        caller.turn(turn)
    verdict = judge(setting.provider.bodies, caller.sent)
    report("litellm headroom", verdict, caller.sent)
    assert verdict.rounds >= 3, "the window is small enough for several compressions"
    assert len(verdict.breaks) == verdict.rounds, "the prefix changes when it is compressed, and then only"
    assert verdict.rounds * 5 < len(caller.sent), "a compression lasts for some requests"
    assert all("elbowroom" in applied for applied in caller.guardrails)


def test_without_the_service_the_original_goes_on(setting: Setting, caller: Caller) -> None:
    for turn in range(1, 16):
        caller.turn(turn)
    assert judge(setting.provider.bodies, caller.sent).rounds >= 1
    setting.service.stop()
    setting.provider.bodies.clear()
    caller.sent.clear()
    try:
        caller.turn(16)
        assert judge(setting.provider.bodies, caller.sent).compressed == 0, "the full original goes on"
        assert (
            "Headroom compression service unreachable; fail_open configured, forwarding request uncompressed" in setting.proxy.log
        )

        setting.provider.bodies.clear()
        caller.history.append(talk.question(17))
        with pytest.raises(Refused) as refused:
            caller.request(guardrails=["strict"])
        assert refused.value.status >= 500
        assert setting.provider.bodies == [], "without fail_open LiteLLM refuses the request"
    finally:
        setting.service.start()
    setting.provider.bodies.clear()
    caller.sent.clear()
    caller.request()
    assert judge(setting.provider.bodies, caller.sent).compressed == 1, "it compresses again"
