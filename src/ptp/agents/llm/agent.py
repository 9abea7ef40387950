"""The agent itself: observe, plan, carry out, check after every move, and plan anew when surprised."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import time
from typing import Any, ClassVar

import msgspec
import numpy as np
from PIL import Image
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.agents.llm.calls import Caller, Ledger
from ptp.agents.llm.conversation import Conversation, is_refusal
from ptp.agents.llm.courses import Course, Turn, load_course, make_course
from ptp.agents.llm.options import LLMOptions
from ptp.agents.llm.prompts import NO_TOOL, SUMMARY, describe, instruct
from ptp.agents.llm.tools import ACTING, arguments, offer
from ptp.agents.llm.wire import check_address
from ptp.errors import ConfigError, NoAnswer, PtpError
from ptp.scripts import Target
from ptp.worlds import Outcome, WorldView

RECENT = 12  # moves that the model is reminded of

Started = tuple[Turn, dict[str, Any]]
"""The first command of a course, and what the model said of it."""
Pending = tuple[str, str, str | None]
"""A tool that was called, the id of the call, and its result: None for the one that moves, which is told afterwards."""


class Seen(msgspec.Struct):
    """The moment in which the last command was given."""

    tick: int
    episode: int
    context: str
    state: str


class LLMMultiStepAgent(Agent):
    """Asks a language model, which sees through tools and plans several moves at a time."""

    name = "llm"
    Options: ClassVar[type[msgspec.Struct]] = LLMOptions
    slow = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        if not setup.model or ":" not in setup.model:
            raise ConfigError("the llm agent needs a model: --model provider:name, such as anthropic:claude-sonnet-5-5")
        if setup.base_url is not None:
            check_address(setup.base_url)
        options: LLMOptions = setup.options
        self.repeatable = setup.answers is not None
        self._target = Target(world)
        self._has_pictures = _has_pictures(world, setup.snapshot_provider)
        self.sees = self._has_pictures or world.facts.render_mode == "ansi"
        tools = offer(world, self._target, options.moves, self._has_pictures)
        self._offered = frozenset(tool.name for tool in tools)
        self._caller = Caller(
            setup.model, setup.base_url, options, instruct(world, options.goal, options.moves), tools, setup.shared,
            setup.answers,
        )  # fmt: skip
        self._closed = threading.Event()
        self._asked_at: float | None = None
        self._talk = Conversation(options.llm_snapshot_retention)
        self._course: Course | None = None
        self._pending: list[Pending] = []
        self._seen: Seen | None = None
        self._moved: list[str] = []
        self._reward = 0.0
        self._long = False
        self._unusable = 0

    # -- deciding ----------------------------------------------------------------------------------------------------

    def decide(self, observation: Observation) -> Decision:
        """Return the next command of what was planned, or ask the model for a plan."""
        answers = self.setup.answers
        self.repeatable = answers is not None and observation.tick < answers.last_tick
        now = Seen(observation.tick, observation.episode, self.world.context(), _digest(observation.state))
        news = self._surprise(now)
        if self._course is not None and not news:
            turn = self._course.next(observation)
            if turn.command is not None:
                return self._give(turn, now, "STEP")
            news = turn.news
        self._course = None
        return self._plan(observation, now, news)

    def _surprise(self, now: Seen) -> str:
        """Return what happened that was not planned; nothing when all went as it should."""
        last, course = self._seen, self._course
        if last is None:
            return ""
        if now.episode != last.episode:
            return f"Episode {last.episode} is over; a new one has begun."
        if now.tick != last.tick + 1:
            return f"Ticks {last.tick + 1} to {now.tick} were not played by you."
        if now.context != last.context:
            return f"The situation changed from {last.context or 'play'} to {now.context or 'play'}."
        if course is not None and course.expects_change and now.state == last.state:
            return f"{self._moved[-1]!r} changed nothing."
        return ""

    def _give(self, turn: Turn, now: Seen, kind: str, ledger: Ledger | None = None, **said: Any) -> Decision:
        assert turn.command is not None
        assert self._course is not None
        self._seen = now
        self._moved = [*self._moved[1 - RECENT :], turn.command]
        context = {"course": self._course.kind, "left": self._course.left}
        decision = Decision((self.world.parse(turn.command),), kind, context=context, checkpoints=turn.checkpoints)
        return decision if ledger is None else _billed(decision, ledger, self._caller.name, **said)

    def _plan(self, observation: Observation, now: Seen, news: str) -> Decision:
        ledger = Ledger()
        try:
            self._wait_for_cooldown()
            self._report(observation, news, ledger)
            return self._ask(observation, now, news, ledger)
        except NoAnswer as problem:
            self._caller.forget()
            return _billed(Decision((), failure=str(problem)), ledger, self._caller.name)

    def _wait_for_cooldown(self) -> None:
        if self._asked_at is not None and not self.repeatable:
            self._closed.wait(self._asked_at + self.options.cooldown - time.monotonic())
        self._asked_at = time.monotonic()

    def _report(self, observation: Observation, news: str, ledger: Ledger) -> None:
        """Tell the model what came of its last plan and where things stand."""
        told = [news] if news else []
        if self._reward:
            told.append(f"Reward since the last plan: {self._reward:g}.")
            self._reward = 0.0
        text = "\n".join([*told, describe(self.world, observation, self._talk.notes, whole=not self._talk.entries)])
        if self._long and self._talk.entries:
            text = f"Summary of what was so far:\n{self._summarise(observation.tick, ledger)}\n\n{text}"
            self._talk.restart(ModelRequest(parts=[UserPromptPart(text)]))
        elif self._pending:
            self._talk.add(ModelRequest(parts=self._results(text)))
        else:
            self._talk.add(ModelRequest(parts=[UserPromptPart(text)]))
        self._pending, self._long = [], False

    def _results(self, text: str) -> list[Any]:
        """Return the results of the tools of the last answer; *text* is that of the one that moved."""
        return [ToolReturnPart(name, text if told is None else told, call) for name, call, told in self._pending]

    def _summarise(self, tick: int, ledger: Ledger) -> str:
        """Let the model write down what matters of a conversation that has become long."""
        self._talk.add(ModelRequest(parts=[*self._results("Done."), UserPromptPart(SUMMARY)]))
        text = self._caller.ask(tick, self._talk, ledger, act=False).text
        if not text:
            ledger.mark("malformed", "the summary is empty")
            raise NoAnswer(f"model {self._caller.name} gave no summary of the conversation; raise history_tokens")
        return text

    def _ask(self, observation: Observation, now: Seen, news: str, ledger: Ledger) -> Decision:
        """Ask until the model moves."""
        checkpoints: list[str] = []
        for _ in range(self.options.calls_per_decision):
            answer = self._caller.ask(now.tick, self._talk, ledger)
            self._long = (answer.usage.input_tokens or 0) > self.options.history_tokens
            if is_refusal(answer) or not any(isinstance(part, ToolCallPart) for part in answer.parts):
                self._complain(answer, ledger)
                continue
            self._talk.add(answer)
            started = self._answer_tools(answer, observation, checkpoints, ledger)
            if started is not None:
                self._unusable = 0
                turn, said = started
                turn = turn._replace(checkpoints=(*checkpoints, *turn.checkpoints))
                decision = self._give(turn, now, "PLAN", ledger, **said)
                decision.context = {**(decision.context or {}), "because": news or None, "calls": len(ledger.calls)}
                return decision
        raise NoAnswer(
            f"model {self._caller.name} did not move within {self.options.calls_per_decision} calls; "
            "raise --agent-option calls_per_decision"
        )

    def _complain(self, answer: ModelResponse, ledger: Ledger) -> None:
        """Say that an answer can't be used; after a few in a row, give up."""
        refused = is_refusal(answer)
        self._unusable += 1
        text = answer.text or ""
        ledger.mark("refused" if refused else "malformed", f"no tool was called: {text[:200]}" if text else "empty")
        if self._unusable >= self.options.malformed_answers:
            what = "refused to answer" if refused else "gave no move"
            raise NoAnswer(f"model {self._caller.name} {what} {self._unusable} times in a row: {text[:200]}")
        if answer.parts and not refused:
            self._talk.add(answer)
        self._talk.add(ModelRequest(parts=[UserPromptPart(NO_TOOL)]))

    # -- tools -------------------------------------------------------------------------------------------------------

    def _answer_tools(
        self, answer: ModelResponse, observation: Observation, checkpoints: list[str], ledger: Ledger
    ) -> Started | None:
        """Do what the model asked for; return the first command once it moves, whose result is told later."""
        results: list[tuple[ToolCallPart, Any]] = []
        started: Started | None = None
        for part in answer.parts:
            if not isinstance(part, ToolCallPart):
                continue
            result: Any = None
            try:
                given = arguments(part, self._offered)
                if part.tool_name not in ACTING:
                    result = self._use(part.tool_name, given, observation, checkpoints)
                elif started is not None:
                    result = "Not done: only one tool can move at a time."
                else:
                    result, started = self._start(part.tool_name, given, observation)
            except PtpError as problem:
                result = f"Refused: {problem}"
                ledger.mark("malformed", str(problem))
            results.append((part, result))
        if started is None:
            self._talk.add(ModelRequest(parts=_returned(results)))
        else:
            self._pending = [
                (part.tool_name, part.tool_call_id, "Not shown: you moved." if isinstance(result, tuple) else result)
                for part, result in results
            ]
        return started

    def _start(self, tool: str, given: dict[str, Any], observation: Observation) -> tuple[str | None, Started | None]:
        """Begin a course; there is a result at once when it does not come to a command."""
        course = make_course(tool, given, self.world, self._target, self.options.moves)
        turn = course.next(observation)
        if turn.command is None:
            return turn.news, None
        self._course = course
        return None, (turn, {"reasoning": given["reasoning"], "confidence": given["confidence"]})

    def _use(self, tool: str, given: dict[str, Any], observation: Observation, checkpoints: list[str]) -> Any:
        notes = self._talk.notes
        match tool:
            case "remember":
                if given["text"]:
                    notes[given["name"]] = given["text"]
                else:
                    notes.pop(given["name"], None)
                return f"There are {len(notes)} notes."
            case "recall":
                wanted = notes if given["name"] is None else {given["name"]: notes.get(given["name"])}
                return json.dumps(wanted, ensure_ascii=False)
            case "snapshot":
                checkpoints.append(given["name"])
                return f"The game will be saved as {given['name']!r} before your next move."
            case "request_snapshot":
                return self._picture(observation)
            case _:
                status = describe(self.world, observation, notes, whole=True)
                return f"{status}\nlast moves: {', '.join(self._moved) or 'none'}"

    def _picture(self, observation: Observation) -> Any:
        picture = observation.frame() if observation.frame is not None else None
        if not isinstance(picture, np.ndarray):
            return "There is no picture of this moment."
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "PNG")
        data = file.getvalue()
        name = hashlib.sha256(data).hexdigest()
        if self._talk.shows(name):
            return f"The screen is still the same as in picture {name[:12]}."
        return (f"Picture {name[:12]} follows.", UserPromptPart([BinaryContent(data, media_type="image/png")]))

    # -- what happens around it ----------------------------------------------------------------------------------------

    def on_step(self, outcome: Outcome) -> None:
        """Add up the reward, for the next report."""
        self._reward += outcome.reward

    def save(self) -> dict[str, Any]:
        """Return conversation, notes and the course under way."""
        return {
            "talk": self._talk.save(),
            "course": None if self._course is None else self._course.save(),
            "pending": [list(it) for it in self._pending],
            "seen": None if self._seen is None else msgspec.to_builtins(self._seen),
            "moved": list(self._moved),
            "reward": self._reward,
            "long": self._long,
            "unusable": self._unusable,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Return to a saved conversation and course."""
        self._talk.load(state["talk"])
        course, seen = state["course"], state["seen"]
        self._course = None if course is None else load_course(course, self.world, self._target)
        self._pending = [(name, call, told) for name, call, told in state["pending"]]
        self._seen = None if seen is None else msgspec.convert(seen, Seen)
        self._moved, self._reward = list(state["moved"]), float(state["reward"])
        self._long, self._unusable = bool(state["long"]), int(state["unusable"])
        self._caller.forget()

    def close(self) -> None:
        """End a call that is under way."""
        self._closed.set()
        self._caller.close()


def _has_pictures(world: WorldView, provider: str) -> bool:
    """Whether the model can ask for pictures: worlds of text have none unless they are wanted."""
    if provider == "none":
        return False
    is_drawn = world.facts.render_mode == "rgb_array"
    if provider == "world" and not is_drawn:
        raise ConfigError(
            f"--snapshot-provider world: {world.facts.name} draws no pictures; add --render-mode rgb_array"
        )
    return is_drawn and (provider == "world" or world.facts.storage_profile != "toy_text")


def _returned(results: list[tuple[ToolCallPart, Any]]) -> list[Any]:
    """Return results as parts of a message; pictures follow them."""
    parts: list[Any] = []
    pictures: list[Any] = []
    for part, result in results:
        text = result[0] if isinstance(result, tuple) else result
        parts.append(ToolReturnPart(part.tool_name, text, part.tool_call_id))
        pictures += result[1:] if isinstance(result, tuple) else ()
    return [*parts, *pictures]


def _digest(state: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(state)).hexdigest()


def _billed(decision: Decision, ledger: Ledger, model: str, **said: Any) -> Decision:
    decision.calls, decision.kept, decision.remarks = tuple(ledger.calls), tuple(ledger.kept), tuple(ledger.remarks)
    decision.cost, decision.tokens, decision.model = ledger.cost, ledger.tokens, model
    decision.reasoning, decision.confidence = said.get("reasoning"), said.get("confidence")
    return decision
