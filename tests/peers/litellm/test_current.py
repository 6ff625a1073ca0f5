"""Current LiteLLM: our guardrail for whole conversations, and what the guardrail ``headroom`` does since 1.96."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator

import pytest
import talk
import wire
from judge import judge, report
from provider import Provider
from proxy import Caller, Proxy, Refused, snippet
from service import Service

GUARDRAIL = pathlib.Path(__file__).resolve().parents[3] / "examples/litellm-guardrail/elbowroom_guardrail.py"

# `assistant` is a name that Elbowroom does not know: its window comes from here.
CONFIG = """
model_list:
  - model_name: assistant
    litellm_params:
      model: openai/any-model
      api_base: {provider}
      api_key: unused
{documented}
  - guardrail_name: headroom-open
    litellm_params:
      guardrail: headroom
      mode: pre_call
      api_base: http://{elbowroom}
      model: gpt-4
      unreachable_fallback: fail_open
  - guardrail_name: headroom
    litellm_params:
      guardrail: headroom
      mode: pre_call
      api_base: http://{elbowroom}
      model: gpt-4
"""


class Setting:
    """Service, provider and proxy, from a caller's side to the other."""

    def __init__(self, folder: pathlib.Path) -> None:
        shutil.copy(GUARDRAIL, folder)
        self.service = Service()
        self.provider = Provider(talk.answer)
        elbowroom = self.service.http
        # Requests name their guardrails here, for there are three.
        changes = (
            ("127.0.0.1:8051", elbowroom),
            ("context_window: 32000", "context_window: 9000"),
            ("default_on: true", "default_on: false"),
        )
        documented = snippet("guardrail: elbowroom_guardrail.", *changes)
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
        caller.turn(turn, guardrails=["elbowroom"])
    verdict = judge(setting.provider.bodies, caller.sent)
    report("litellm elbowroom_guardrail", verdict, caller.sent)
    assert verdict.rounds >= 3, "the window is small enough for several compressions"
    assert len(verdict.breaks) == verdict.rounds, "the prefix changes when it is compressed, and then only"
    assert verdict.rounds * 5 < len(caller.sent), "a compression lasts for some requests"
    assert set(caller.guardrails) == {"elbowroom"}


def test_without_the_service_the_original_goes_on(setting: Setting, caller: Caller) -> None:
    setting.service.stop()
    try:
        caller.turn(1, guardrails=["elbowroom"])
    finally:
        setting.service.start()
    assert judge(setting.provider.bodies, caller.sent).compressed == 0
    assert "elbowroom: the original goes on: " in setting.proxy.log


def test_headroom_of_current_versions_takes_no_summary(setting: Setting, caller: Caller) -> None:
    for turn in range(1, talk.TURNS + 1):
        caller.turn(turn, guardrails=["headroom-open"])
    verdict = judge(setting.provider.bodies, caller.sent)
    assert verdict.compressed == 0, "the original goes on: a summary is fewer messages than were sent"
    assert "Headroom compression service changed the message count" in setting.proxy.log
    caller.history.append(talk.question(talk.TURNS + 1))
    with pytest.raises(Refused, match="changed the message count") as refused:
        caller.request(guardrails=["headroom"])
    assert refused.value.status == 502
    assert wire.faults(caller.history) == []
