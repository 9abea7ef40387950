"""Asking a model: each call waits for its turn, is tried again when it fails, and becomes a record with its texts."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ptp.agents.contract import Answers, Remark
from ptp.agents.llm.conversation import Conversation, dump, encode, is_refusal, keep, read
from ptp.agents.llm.limiter import Limiter
from ptp.agents.llm.options import LLMOptions
from ptp.agents.llm.wire import Wire, without_secrets
from ptp.errors import NoAnswer
from ptp.records import ModelCall, ModelConfigured, ModelText

LASTING = (ModelRequestRejectedError, ModelQuotaExceededError)
"""What will not go well when it is tried again."""
LONGEST_WAIT = 60.0


class Ledger:
    """What one decision took."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.kept: list[ModelText | ModelConfigured] = []
        self.remarks: list[Remark] = []

    @property
    def cost(self) -> float | None:
        """Dollars; None when no price is known."""
        costs = [call.cost for call in self.calls if call.cost is not None]
        return sum(costs) if costs else None

    @property
    def tokens(self) -> int | None:
        """Tokens in and out; None when no answer came."""
        sums = [(call.tokens_in or 0) + (call.tokens_out or 0) for call in self.calls if call.tokens_in is not None]
        return sum(sums) if sums else None

    def mark(self, status: str, error: str) -> None:
        """Note that the last answer could not be used."""
        last = self.calls[-1]
        fields = {name: getattr(last, name) for name in last.__struct_fields__}
        self.calls[-1] = ModelCall(**fields | {"status": status, "error": error})


class Caller:
    """Asks one model with one set of instructions and tools."""

    def __init__(
        self, model: str, base_url: str | None, options: LLMOptions, instructions: str,
        tools: Sequence[ToolDefinition], shared: str | None, answers: Answers | None,
    ) -> None:  # fmt: skip
        self.name = model
        self.provider = model.partition(":")[0]
        self._options = options
        self._instructions = instructions
        self._tools = list(tools)
        self._answers = answers
        self._closed = threading.Event()
        self._address = (model, base_url)
        self._shared = shared
        self._wire: Wire | None = None
        self._limiter: Limiter | None = None
        if answers is None:
            self._connect()
        self._kept: set[str] = set()
        self._parameters = {
            "temperature": options.temperature, "max_tokens": options.max_tokens,
            "tools": [tool.name for tool in tools],
        }  # fmt: skip
        offered = encode([[tool.name, tool.description, tool.parameters_json_schema] for tool in tools])
        self._head = [keep(instructions.encode()), keep(offered)]
        self._config = ModelConfigured(
            hashlib.sha256(encode([model, instructions, self._parameters])).hexdigest(),
            model, options.temperature, options.max_tokens, instructions,
            {"base_url": base_url, "tools": self._parameters["tools"]},
        )  # fmt: skip

    def _connect(self) -> Wire:
        """Make the connection; with recorded answers it waits until the first question that has none."""
        self._wire = Wire(*self._address)
        if self._shared is not None:
            account, options = f"{self.provider} {self._address[1] or ''}".strip(), self._options
            self._limiter = Limiter(Path(self._shared), account, options.calls_per_minute, options.dollars_per_hour)
        return self._wire

    def forget(self) -> None:
        """Keep every text again: it is not certain that those of before were recorded."""
        self._kept.clear()

    def ask(self, tick: int, conversation: Conversation, ledger: Ledger, *, act: bool = True) -> ModelResponse:
        """Return the model's answer to a conversation; without *act* it is offered no tools."""
        head = self._head if act else self._head[:1]
        texts = [*head, *(kept for entry in conversation.entries for kept in entry.kept)]
        said = {
            "model": self.name, "system": head[0].hash, "tools": head[1].hash if act else None,
            "messages": [entry.hash for entry in conversation.entries],
            "temperature": self._options.temperature, "max_tokens": self._options.max_tokens,
        }  # fmt: skip
        prompt = keep(encode(said))
        recorded = None
        if self._answers is not None and tick < self._answers.last_tick:
            recorded = self._answers.next(tick, prompt, texts)
            if recorded is None:
                raise NoAnswer(f"no answer of {self.name} is recorded for what is asked at tick {tick}")
        if recorded is not None:
            answer = read(recorded)
            assert isinstance(answer, ModelResponse)
            self._note(answer, recorded, 0.0, prompt, texts, ledger, None)
            return answer
        return self._ask_live(conversation, prompt, texts, ledger, act)

    def _ask_live(
        self, conversation: Conversation, prompt: ModelText, texts: list[ModelText], ledger: Ledger, act: bool
    ) -> ModelResponse:
        wire = self._wire or self._connect()
        for attempt in range(self._options.retries + 1):
            self._wait_for_turn(ledger)
            began = time.perf_counter()
            try:
                answer = wire.request(conversation.messages(self._instructions), self._settings(), self._request(act))
            except (ModelAPIError, UnexpectedModelBehavior) as problem:
                self._fail(problem, (time.perf_counter() - began) * 1000, prompt, texts, ledger)
                if isinstance(problem, LASTING) or attempt == self._options.retries:
                    raise NoAnswer(f"model {self.name} can't be asked: {ledger.calls[-1].error}") from None
                self._wait_to_retry(problem, attempt)
                continue
            latency = (time.perf_counter() - began) * 1000
            self._note(answer, dump(answer), latency, prompt, texts, ledger, wire.allowance.remaining)
            return answer
        raise AssertionError

    def _settings(self) -> ModelSettings:
        settings = ModelSettings(cache=True, timeout=self._options.timeout)
        if self._options.max_tokens is not None:
            settings["max_tokens"] = self._options.max_tokens
        if self._options.temperature is not None:
            settings["temperature"] = self._options.temperature
        return settings

    def _request(self, act: bool) -> ModelRequestParameters:
        return ModelRequestParameters(function_tools=self._tools if act else [], allow_text_output=True)

    def _wait_for_turn(self, ledger: Ledger) -> None:
        if self._limiter is None:
            return
        waited = self._limiter.acquire(self._closed.is_set)
        if waited.seconds >= 1:
            level, how = ("warning", "queued") if waited.queued else ("info", "waited")
            message = f"a call of {self.name} {how} for {waited.seconds:.0f} s, for the limits of its account"
            ledger.remarks.append(Remark(level, "rate_limited", message))  # type: ignore[arg-type]

    def _wait_to_retry(self, problem: Exception, attempt: int) -> None:
        asked = problem.retry_after if isinstance(problem, ModelAPIError) else None
        wait = self._options.backoff * 2**attempt if asked is None else asked
        if self._closed.wait(min(wait, LONGEST_WAIT)):
            raise NoAnswer("the run has ended while its model was to be asked again")

    def _fail(
        self, problem: Exception, latency: float, prompt: ModelText, texts: list[ModelText], ledger: Ledger
    ) -> None:
        assert self._wire is not None
        remaining, resets_at = self._wire.allowance
        if self._limiter is not None:
            self._limiter.heard(remaining, resets_at, None)
        self._keep([prompt, *texts], ledger)
        error = without_secrets(f"{type(problem).__name__.lstrip('_')}: {problem}".replace("\n", " "))
        ledger.calls.append(self._call(latency, prompt.hash, "error", error=error, remaining=remaining))

    def _note(
        self, answer: ModelResponse, text: bytes, latency: float, prompt: ModelText, texts: list[ModelText],
        ledger: Ledger, remaining: int | None,
    ) -> None:  # fmt: skip
        kept, cost = keep(text), _price(answer)
        self._keep([prompt, *texts, kept], ledger)
        usage, status = answer.usage, "refused" if is_refusal(answer) else "ok"
        ledger.calls.append(
            self._call(
                latency,
                prompt.hash,
                status,
                answer_hash=kept.hash,
                cost=cost,
                remaining=remaining,
                tokens=(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
                tools=[
                    {"name": part.tool_name, "arguments": part.args}
                    for part in answer.parts
                    if isinstance(part, ToolCallPart)
                ],
            )
        )
        if self._limiter is not None and self._wire is not None:
            self._limiter.heard(*self._wire.allowance, cost)

    def _call(
        self, latency: float, prompt_hash: str, status: str, *, answer_hash: str | None = None,
        cost: float | None = None, tokens: tuple[int | None, int | None, int | None] = (None, None, None),
        tools: Any = (), error: str | None = None, remaining: int | None = None,
    ) -> ModelCall:  # fmt: skip
        return ModelCall(
            time.time(), 0, None, self.provider, self.name, self._parameters, *tokens, cost, latency, tools,
            prompt_hash, answer_hash, status, error, remaining,
        )  # fmt: skip

    def _keep(self, texts: Sequence[ModelText], ledger: Ledger) -> None:
        """Keep what was not kept yet."""
        if not self._kept:
            ledger.kept.append(self._config)
        for text in texts:
            if text.hash not in self._kept:
                self._kept.add(text.hash)
                ledger.kept.append(text)

    def close(self) -> None:
        """End what is under way."""
        self._closed.set()
        if self._wire is not None:
            self._wire.close()


def _price(answer: ModelResponse) -> float | None:
    """Return what an answer cost; None when its price is unknown."""
    if not answer.model_name or not answer.usage.has_values():
        return None
    try:
        return float(answer.cost().total_price)
    except (LookupError, ValueError):
        return None
