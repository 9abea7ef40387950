// Any tick of a run: its picture, state, action and decision, and marks to jump to.
import { get, picture, post } from "./api.js";
import { ask, fill, h, number, span, toast, TONES, WORDS } from "./dom.js";
import { decisionPanel, fact, partyPanel, statePanel } from "./panels.js";
import { Screen } from "./screen.js";

const MARKED = ["Caught", "BadgeEarned", "Fainted", "Error", "Rewind", "LevelUp", "Joined", "BattleStarted", "MapChanged", "DialogShown"];
const AT_FIRST = ["Caught", "BadgeEarned", "Error", "Rewind", "LevelUp", "Joined", "MapChanged"];

export async function timelineView({ main, id, signal, keys, extra }) {
  const [{ tick: newest }, found] = await Promise.all([get("metrics", { run: id }), get("events", { run: id, kinds: MARKED.join(","), limit: 5000 })]);
  if (signal.aborted) return;
  let last = newest, events = found.events, tick = Math.min(last, Math.max(0, extra === undefined ? last : Number(extra) || 0)), pinned = null, playing = null, waiting = null;
  const shownKinds = new Set(AT_FIRST.filter((kind) => kind in found.kinds));
  if (!shownKinds.size) Object.keys(found.kinds).forEach((kind) => shownKinds.add(kind));
  const screen = new Screen();
  const slider = h("input", { type: "range", id: "scrub", min: 0, max: last, step: 1, "aria-label": "Tick", oninput: () => go(Number(slider.value), true), onchange: () => go(Number(slider.value)) });
  const box = h("input", { type: "number", min: 0, max: last, "aria-label": "Tick number", onchange: () => go(Number(box.value)) });
  box.style.width = "110px";
  const marks = h("svg", { viewBox: "0 0 1000 34", preserveAspectRatio: "none", "aria-hidden": "true" });
  const legend = h("div.legend"), parts = { head: h("div.facts"), where: h("section.card"), party: h("section.card"), decision: h("section.card.wide"), events: h("section.card.wide"), raw: h("pre.tree") };
  const playButton = h("button", { id: "play", onclick: play }, "Play");
  const pin = h("button", { onclick: () => { pinned = pinned === null ? tick : null; pin.textContent = pinned === null ? "Compare with this tick" : `Comparing with tick ${number(pinned)}`; load(); } }, "Compare with this tick");
  const compared = h("p.dim");

  function drawMarks() {
    const chosen = events.filter(({ kind }) => shownKinds.has(kind));
    fill(marks, chosen.map((event) => {
      const strong = ["good", "bad", "odd"].includes(TONES[event.kind]);
      return h("rect", { class: TONES[event.kind] || "", x: (last ? (event.tick / last) * 1000 : 0) - 1, y: strong ? 2 : 16, width: 2, height: strong ? 30 : 16, rx: 1 }, h("title", null, `${event.tick}: ${event.title}`));
    }));
    fill(legend, MARKED.filter((kind) => kind in found.kinds).map((kind) => h("button", { class: TONES[kind] || "", "aria-pressed": String(shownKinds.has(kind)), onclick: () => { shownKinds.has(kind) ? shownKinds.delete(kind) : shownKinds.add(kind); drawMarks(); } },
      `${WORDS[kind] || kind} ${number(found.kinds[kind])}`)));
  }
  marks.addEventListener("click", (event) => {
    const box = marks.getBoundingClientRect(), wanted = ((event.clientX - box.left) / box.width) * last;
    const near = events.filter(({ kind }) => shownKinds.has(kind)).reduce((best, each) => (best === null || Math.abs(each.tick - wanted) < Math.abs(best.tick - wanted) ? each : best), null);
    go(near && Math.abs(near.tick - wanted) < last / 60 ? near.tick : Math.round(wanted));
  });

  function go(wanted, dragging = false) {
    tick = Math.min(last, Math.max(0, Math.round(wanted)));
    slider.value = tick; box.value = tick;
    history.replaceState(null, "", `#/run/${id}/timeline/${tick}`);
    clearTimeout(waiting);
    waiting = setTimeout(() => load(dragging), dragging ? 60 : 0);
  }

  function jump(direction) {
    const ticks = events.filter(({ kind }) => shownKinds.has(kind)).map((event) => event.tick);
    const next = direction > 0 ? ticks.find((each) => each > tick) : ticks.findLast((each) => each < tick);
    if (next !== undefined) go(next);
  }

  let loading = null;
  async function load(dragging = false) {
    loading?.abort();
    const mine = (loading = new AbortController()), wanted = tick;
    signal.addEventListener("abort", () => mine.abort());
    try {
      const address = pinned === null ? ["frame", { run: id, tick: wanted, ...(dragging ? { near: true } : {}) }] : ["screenshots/diff/image", { run: id, a: `tick-${pinned}`, b: `tick-${wanted}` }];
      const [facts, shown] = await Promise.all([get(`tick/${wanted}`, { run: id }), picture(...address, mine.signal).catch((problem) => { if (problem.name === "AbortError") throw problem; return { text: problem.message, words: true }; })]);
      if (mine.signal.aborted) return;
      if (facts.last_tick !== last) { last = facts.last_tick; slider.max = box.max = last; slider.value = tick; drawMarks(); }
      screen.show(shown, shown.tick ?? wanted);
      describe(facts);
      if (pinned !== null) {
        const { changed_share, equal } = await get("screenshots/diff", { run: id, a: `tick-${pinned}`, b: `tick-${wanted}` });
        compared.textContent = equal ? "The pictures are identical." : `${number(100 * changed_share, 1)} % of the picture differs from tick ${number(pinned)}.`;
      } else compared.textContent = "";
      if (playing !== null) playing = setTimeout(() => (tick < last ? go(tick + 1) : play()), 60);
    } catch (problem) { if (problem.name !== "AbortError") throw problem; }
  }

  function describe(facts) {
    fill(parts.head, fact("tick", `${number(facts.tick)} of ${number(facts.last_tick)}`), fact("command", facts.step?.command ?? "–"), fact("reward", number(facts.step?.reward, 3)), fact("episode", number(facts.step?.episode)), fact("played", span(facts.step?.elapsed)));
    fill(parts.where, statePanel(facts.state));
    fill(parts.party, partyPanel(facts.state));
    parts.party.classList.toggle("hidden", !facts.state || !("party" in facts.state));
    parts.where.classList.toggle("wide", !facts.state || !("party" in facts.state));
    fill(parts.decision, decisionPanel(facts.decision, facts.step?.command));
    const happened = facts.events.filter(({ kind }) => kind !== "PartySeen");
    fill(parts.events, h("h2", null, "In this tick"), happened.length ? h("ol.feed", null, happened.map((event) => h("li", { class: TONES[event.kind] ? `tone ${TONES[event.kind]}` : "" }, h("span.dim", null, WORDS[event.kind] || event.kind), h("span", null, event.title)))) : h("p.dim", null, "nothing happened"));
    parts.raw.textContent = JSON.stringify({ state_hash: facts.step?.state_hash, state: facts.state }, null, 1);
  }

  function play() {
    if (playing !== null) { clearTimeout(playing); playing = null; playButton.textContent = "Play"; return; }
    playing = 0; playButton.textContent = "Pause";
    if (tick >= last) go(0); else load();
  }

  async function fork() {
    const wanted = await ask("Fork from here", `A new run with this history up to tick ${number(tick)}; it starts playing at once.`, [{ name: "seed", label: "Seed for the agent (optional)", inputmode: "numeric" }, { name: "ticks", label: "Stop at tick (optional)", inputmode: "numeric" }], "Fork");
    if (!wanted) return;
    const made = await post("fork", { run: id }, { tick, ...(wanted.seed ? { random_seed: Number(wanted.seed) } : {}), ...(wanted.ticks ? { max_ticks: Number(wanted.ticks) } : {}) });
    toast("the fork has started");
    location.hash = `#/run/${made.run_id}/live`;
  }

  Object.assign(keys, { ArrowLeft: () => go(tick - 1), ArrowRight: () => go(tick + 1), "Shift+ArrowLeft": () => go(tick - 10), "Shift+ArrowRight": () => go(tick + 10),
    PageUp: () => go(tick - 100), PageDown: () => go(tick + 100), Home: () => go(0), End: () => go(last), "[": () => jump(-1), "]": () => jump(1), " ": play });
  fill(main,
    h("section.card.scrub", null, h("div.track", null, marks), slider,
      h("div.row.spread", null, h("div.row", null, h("button.small", { onclick: () => jump(-1), title: "Previous event" }, "‹ event"), h("button.small", { onclick: () => go(tick - 1), "aria-label": "Previous tick" }, "−1"), box,
        h("button.small", { onclick: () => go(tick + 1), "aria-label": "Next tick" }, "+1"), h("button.small", { onclick: () => jump(1), title: "Next event" }, "event ›")), legend)),
    h("div.past", null, h("div.handheld", null, screen.bezel, h("div.deck", null, playButton, pin, h("button", { id: "fork", onclick: fork }, "Fork from here")), compared),
      h("div.side", null, h("section.card.wide", null, parts.head), parts.decision, parts.where, parts.party, parts.events, h("details.card.wide", null, h("summary", null, "Full state"), parts.raw))));
  drawMarks();
  go(tick);
}
