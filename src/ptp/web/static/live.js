// A run as it plays; one that has ended shows where it ended.
import { get, isConnected, listen, look, picture, post } from "./api.js";
import { chart } from "./chart.js";
import { ask, commandName, fill, h, money, newestOnly, number, repeat, span, toast } from "./dom.js";
import { decisionPanel, fact, Feed, showStateIn } from "./panels.js";
import { rewinder } from "./rewind.js";
import { Screen } from "./screen.js";

const TOLD = "Caught,BadgeEarned,BattleEnded,Fainted,LevelUp,MapChanged,Joined,Episode,Error,Rewind";

export async function liveView({ main, id, detail, signal, keys, setStatus }) {
  const screen = new Screen(), feed = new Feed(id), plays = detail.signals.length > 0; // a game that tells how it goes
  const parts = { where: h("section.card"), party: h("section.card"), decision: h("section.card.wide"), facts: h("div.facts"), charts: h("div.charts") };
  let paused = detail.paused, live = detail.live, now = null, command = null, returned = null, back = 0;

  const steer = async (verb, body) => {
    const answer = await post(`control/${verb}`, { run: id }, body);
    if (verb === "step") setPaused(true); // paused again as soon as it has played
    else if (answer.paused !== null && answer.paused !== undefined) setPaused(answer.paused);
    return answer;
  };
  const rewind = rewinder({ id, signal, isPaused: () => paused, show: showGoingBack });
  const buttons = {
    rewind: rewind.button,
    pause: h("button.main", { id: "pause", onclick: () => steer(paused ? "resume" : "pause") }),
    step: h("button", { id: "step", onclick: () => steer("step", { ticks: 1 }) }, "Step", h("kbd", null, "s")),
    snapshot: h("button", { id: "snapshot", onclick: takeSnapshot }, "Snapshot", h("kbd", null, "n")),
    rate: h("select", { "aria-label": "Tick rate", onchange: (event) => steer("set", { settings: { "tick-rate-base": event.target.value, "tick-rate-battle": event.target.value } }).then(() => toast(`tick rate is ${event.target.selectedOptions[0].text}`)) }),
    stop: h("button.danger", { id: "stop", onclick: stop }, "Stop"),
  };
  Object.assign(keys, { p: () => live && buttons.pause.click(), s: () => live && buttons.step.click(), n: () => buttons.snapshot.click(), ArrowLeft: (event) => live && rewind.hold(event) });

  function setPaused(value) {
    paused = value;
    fill(buttons.pause, paused ? "Resume" : "Pause", h("kbd", null, "p"));
    if (back) screen.cover(`◀◀ ${number(back)} tick${back === 1 ? "" : "s"} a step`, true);
    else screen.cover(live && paused ? "PAUSED" : "");
    setStatus(paused, live, back > 0);
  }

  function showGoingBack(ticks) {
    back = ticks;
    buttons.pause.disabled = buttons.step.disabled = back > 0; // the run is paused while it goes back, and plays on when let go
    buttons.rewind.classList.toggle("held", back > 0);
    if (back) parts.decision.classList.add("stale"); // it was made later
    setPaused(paused);
    if (!back) showThere();
  }

  function setRates(target) {
    const rates = [...new Set([1, 5, 10, 20, 60, 200, target].filter((rate) => rate !== null && rate !== undefined && rate !== 0))].sort((a, b) => a - b);
    fill(buttons.rate, [...rates.map((rate) => h("option", { value: rate, selected: rate === target }, `${rate} ticks/s`)), h("option", { value: 0, selected: target === 0 }, "as fast as possible")]);
  }

  async function takeSnapshot() {
    const wanted = await ask("Take a snapshot", live ? "The run keeps playing; you can come back to this tick." : "At the last tick of the run.", [{ name: "name", label: "Name (optional)", maxlength: 80 }], "Take snapshot");
    if (!wanted) return;
    const answer = await steer("snapshot", wanted.name ? { name: wanted.name } : {});
    toast(`snapshot at tick ${number(answer.tick)}`);
  }

  async function stop() {
    if (await ask("Stop the run?", "It ends as with Ctrl-C; resume it later with `ptp resume`.", [], "Stop", true)) {
      await steer("stop");
      toast("the run is stopping");
    }
  }

  function showFacts({ tick, rate, target, elapsed, cost, reward, episode }) {
    const pace = rate === null || rate === undefined ? null : number(rate, rate < 10 ? 1 : 0);
    fill(parts.facts, fact("tick", number(tick)), pace && fact("ticks/s", pace), fact("target", target ? number(target) : target === 0 ? "max" : "–"), fact("played", span(elapsed)),
      !plays && [fact("episode", number(episode)), fact("return so far", number(returned, 2))], (reward || !plays) && fact("total reward", number(reward, 2)), cost ? fact("cost", money(cost)) : null);
  }

  // The return of the episode from its steps; unknown where some came too fast to be passed on.
  function addUp(records, lost) {
    if (lost) returned = null;
    for (const { record, step, reward } of records) if (record === "Step") returned = step === 1 ? reward : returned === null ? null : returned + reward;
  }

  function showDecision(decision, shown) {
    fill(parts.decision, decisionPanel(decision, shown));
    parts.decision.classList.remove("stale");
  }

  // What belongs to the tick that a paused run went back to; one that plays tells by itself.
  const showThere = newestOnly(async () => {
    if (!now?.paused) return;
    const { tick } = now, there = await get(`tick/${tick}`, { run: id }).catch((problem) => { if (problem.status !== 404) throw problem; }); // it went back further
    if (!there || signal.aborted || now.tick !== tick) return;
    returned = there.episode_return;
    showDecision(there.decision, there.step && commandName(detail, there.step.command));
    showFacts(now);
  });

  function tell({ record, tick, kind, title, level, message, ...told }) {
    if (record === "Event" && kind !== "PartySeen") feed.add(tick, kind, title);
    if (record === "EpisodeEnded") feed.add(tick, "Episode", `episode ${number(told.episode)} ended after ${number(told.steps)} steps, return ${number(told.reward, 3)}`);
    if (record === "Rewound") { feed.forgetAfter(told.to_tick); feed.add(told.to_tick, "Rewind", `went back here from tick ${number(told.from_tick)}`); }
    if (record === "Notice" && level !== "info") toast(message, true);
  }

  function showState(state) {
    showStateIn(parts, state);
  }

  const ended = h("div.banner", { class: live ? "hidden" : detail.run.status === "crashed" ? "bad" : "" }, ending(detail));
  const deck = h("div.deck", null, live ? Object.values(buttons) : [buttons.snapshot, h("a.button", { href: `#/run/${id}/timeline` }, "Browse the timeline")]);
  fill(main, ended, h("div.live", null, h("div.handheld", null, screen.bezel, deck),
    h("div.side", null, h("section.card.wide", null, parts.facts), parts.decision, parts.where, parts.party, h("section.card.wide", null, h("h2", null, "What happened"), feed.list))), parts.charts);
  fill(parts.decision, decisionPanel(null));

  async function showCharts() {
    const { series } = await get("metrics/series", { run: id, points: 160 });
    const shown = series.filter(({ points }) => points.length > 1 && points.some(([, value]) => value)).sort((a, b) => (b.name === "episode_reward") - (a.name === "episode_reward"));
    if (!signal.aborted && !parts.charts.matches(":hover")) fill(parts.charts, shown.map((each) => chart(each, id)));
  }

  async function showLast() {
    const [events, metrics] = await Promise.all([get("events", { run: id, kinds: TOLD, from_tick: Math.max(0, (detail.run.ticks || 0) - 1500) }), get("metrics", { run: id })]);
    events.events.slice(-60).forEach((event) => feed.add(event.tick, event.kind, event.title));
    const last = await get(`tick/${metrics.tick}`, { run: id });
    returned = last.episode_return;
    showFacts({ tick: last.tick, rate: metrics.performance.tick_rate_actual, target: metrics.performance.tick_rate_target, elapsed: last.step?.elapsed, cost: detail.run.total_cost, reward: detail.run.total_reward, episode: last.step?.episode });
    showState(last.state);
    fill(parts.decision, decisionPanel(last.decision, last.step && commandName(detail, last.step.command)));
    if (!live && detail.render_mode) screen.show(await picture("frame", { run: id }, signal), last.tick);
  }

  async function follow() {
    screen.bezel.classList.add("on");
    await listen("live", { run: id }, {
      state: (message) => {
        const wentBack = now && message.now.tick < now.tick;
        if (!now) setRates(message.now.target);
        now = message.now;
        if (wentBack) { returned = null; feed.forgetAfter(now.tick); if (!back) showThere(); }
        if (now.paused !== paused) setPaused(now.paused);
        showFacts({ ...now, rate: message.rate });
        showState(message.state);
      },
      frame: (message) => screen.showEvent(message),
      records: ({ records, lost }) => {
        const last = (kind) => records.findLast(({ record }) => record === kind);
        if (last("Step")) command = commandName(detail, last("Step").command);
        addUp(records, lost);
        if (last("DecisionMade")) showDecision(last("DecisionMade"), command);
        records.forEach(tell);
      },
      end: () => { live = false; },
    }, signal);
    if (signal.aborted) return;
    if (live) lose(); // the server is gone; the run may well go on
    else dispatchEvent(new HashChangeEvent("hashchange")); // it ended: show how
  }

  async function lose() {
    await look();
    if (isConnected()) setTimeout(() => { if (!signal.aborted) dispatchEvent(new HashChangeEvent("hashchange")); }, 1000); // only the stream broke
  }

  if (live) { setPaused(paused); setRates(null); }
  await showLast();
  showCharts();
  repeat(signal, 4000, () => live && showCharts());
  addEventListener("connection-lost", () => { screen.bezel.classList.remove("on"); screen.cover("NO CONNECTION"); }, { signal });
  if (live) follow().catch((problem) => { if (problem.name !== "AbortError") lose(); });
}

function ending(detail) {
  const { status, error, stopped_by, completed_at } = detail.run;
  const why = error || (stopped_by ? `ended by ${stopped_by}` : status === "crashed" ? "its process died" : "");
  return [h("b", null, status === "manual_stop" ? "Stopped" : status === "crashed" ? "Crashed" : "Completed"), h("span", null, why),
    completed_at && h("span.dim", null, new Date(completed_at).toLocaleString()), h("span.grow"), h("span.dim", null, "continue with "), h("code", null, detail.resume_with)];
}
