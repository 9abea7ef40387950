// Any tick of a run: its picture, state, action and decision, marks to jump to, and another tick beside it.
import { get, picture, post } from "./api.js";
import { ask, brief, commandName, fill, h, newestOnly, number, span, toast, TONES, WORDS } from "./dom.js";
import { decisionPanel, fact, showStateIn } from "./panels.js";
import { Playback, SPEEDS } from "./playback.js";
import { Screen } from "./screen.js";

const MARKED = ["Caught", "BadgeEarned", "Fainted", "Error", "Rewind", "LevelUp", "Joined", "BattleStarted", "MapChanged", "DialogShown"];
const AT_FIRST = ["Caught", "BadgeEarned", "Error", "Rewind", "LevelUp", "Joined", "MapChanged", "Episode"];
const QUIET = 150; // milliseconds after the last move of the slider
const PANELS = 250; // milliseconds from one change of the panels to the next while it plays
const UNKNOWN = 10; // ticks per second at speed 1 of a run that did not keep its world's own pace

export async function timelineView({ main, id, signal, keys, extra, query, detail }) {
  const [{ tick: newest }, found, { series }] = await Promise.all([get("metrics", { run: id }), get("events", { run: id, kinds: MARKED.join(","), limit: 5000 }), get("metrics/series", { run: id, names: "episode_reward", points: 1000 })]);
  if (signal.aborted) return;
  const events = [...found.events, ...episodeMarks(series[0]?.points || [], found.kinds.Episode)].sort((a, b) => a.tick - b.tick);
  const kinds = [...MARKED, "Episode"].filter((kind) => kind in found.kinds);
  const shownKinds = new Set("marks" in query ? query.marks.split(",") : AT_FIRST.filter((kind) => kind in found.kinds));
  if (!shownKinds.size && !("marks" in query)) kinds.forEach((kind) => shownKinds.add(kind));
  let last = newest, tick = Math.min(last, Math.max(0, extra === undefined ? last : Number(extra) || 0)), playing = false, quiet = null, described = 0;
  const pace = detail.ticks_per_second ?? UNKNOWN, speedName = (speed) => (detail.ticks_per_second ? `${speed}×` : `${number(speed * pace)} ticks/s`);
  let pinned = "compare" in query ? Math.min(last, Math.max(0, Number(query.compare) || 0)) : null;

  const screen = new Screen(), other = new Screen();
  const slider = h("input", { type: "range", id: "scrub", min: 0, max: last, step: 1, "aria-label": "Tick", oninput: () => go(Number(slider.value), true), onchange: () => go(Number(slider.value)) });
  const box = h("input", { type: "number", min: 0, max: last, "aria-label": "Tick number", onchange: () => go(Number(box.value)) });
  const marks = h("svg", { viewBox: "0 0 1000 34", preserveAspectRatio: "none", "aria-hidden": "true" });
  const legend = h("div.legend"), parts = { head: h("div.facts"), where: h("section.card"), party: h("section.card"), decision: h("section.card.wide"), events: h("section.card.wide"), raw: h("pre.tree") };
  const speed = h("select", { id: "speed", "aria-label": "Playback speed", title: `1× is ${number(pace)} ticks per second`, onchange: () => { remember({ speed: speed.value === "1" ? null : speed.value }); if (playing) start(); } },
    SPEEDS.map((each) => h("option", { value: each, selected: each === (SPEEDS.find((known) => String(known) === query.speed) ?? 1) }, speedName(each))));
  const playButton = h("button", { id: "play", onclick: play }, "Play"), pin = h("button", { id: "compare", onclick: () => compare(pinned === null ? tick : null) });
  const share = h("p"), changes = h("section.card.wide.changes.hidden"), shell = h("div.handheld"), past = h("div.past");
  const side = h("div.side", null, changes, h("section.card.wide", null, parts.head), parts.decision, parts.where, parts.party, parts.events, h("details.card.wide", null, h("summary", null, "Full state"), parts.raw));

  function drawMarks() {
    fill(marks, events.filter(({ kind }) => shownKinds.has(kind)).map((event) => {
      const strong = ["good", "bad", "odd"].includes(TONES[event.kind]), high = event.height ?? (strong ? 30 : 16);
      return h("rect", { class: TONES[event.kind] || "", x: (last ? (event.tick / last) * 1000 : 0) - 1, y: 32 - high, width: 2, height: high, rx: 1 }, h("title", null, `${event.tick}: ${event.title}`));
    }));
    fill(legend, kinds.map((kind) => h("button", { class: TONES[kind] || "", "aria-pressed": String(shownKinds.has(kind)), onclick: () => { shownKinds.has(kind) ? shownKinds.delete(kind) : shownKinds.add(kind); drawMarks(); remember({ marks: [...shownKinds].join(",") }); } },
      `${WORDS[kind] || kind} ${number(found.kinds[kind])}`)));
  }
  marks.addEventListener("click", (event) => {
    const box = marks.getBoundingClientRect(), wanted = ((event.clientX - box.left) / box.width) * last;
    const near = events.filter(({ kind }) => shownKinds.has(kind)).reduce((best, each) => (best === null || Math.abs(each.tick - wanted) < Math.abs(best.tick - wanted) ? each : best), null);
    go(near && Math.abs(near.tick - wanted) < last / 60 ? near.tick : Math.round(wanted));
  });

  function remember(values = {}) {
    Object.assign(query, values);
    const given = Object.entries(query).filter(([, value]) => value !== null);
    history.replaceState(null, "", `#/run/${id}/timeline/${tick}${given.length ? "?" + new URLSearchParams(given) : ""}`);
  }

  function go(wanted, dragging = false) {
    tick = Math.min(last, Math.max(0, Math.round(wanted)));
    slider.value = tick; box.value = tick;
    clearTimeout(quiet);
    if (playing && !dragging) return start();
    playback.stop(); // while the slider is dragged
    remember();
    side.classList.toggle("stale", side.dataset.tick !== String(tick)); // until the panels show it too
    shell.classList.toggle("stale", screen.canvas.dataset.tick !== String(tick));
    if (dragging) quiet = setTimeout(() => load(false), QUIET);
    return load(dragging);
  }
  const load = (dragging) => Promise.all([showFacts(tick), showPicture(tick, dragging)]);

  const showFacts = newestOnly(async (wanted) => {
    const facts = await get(`tick/${wanted}`, { run: id });
    if (signal.aborted) return;
    if (facts.last_tick !== last) { playback.last = last = facts.last_tick; slider.max = box.max = last; slider.value = tick; drawMarks(); }
    describe(facts);
    side.dataset.tick = wanted;
    side.classList.toggle("stale", wanted !== tick && !playing);
    if (pinned !== null) await showChanges(facts);
  });

  const showPicture = newestOnly(async (wanted, dragging) => {
    if (!dragging && screen.canvas.dataset.tick === String(wanted) && !screen.failed) return frameChanges();
    const shown = await draw(wanted, dragging);
    if (signal.aborted) return;
    put(shown, wanted);
    shell.classList.toggle("stale", screen.canvas.dataset.tick !== String(tick));
    if (!dragging) await frameChanges();
  });
  function put(shown, wanted) {
    screen.failed = shown.words;
    screen.cover("");
    screen.show(shown, shown.tick ?? wanted);
  }
  const draw = (wanted, near) => picture("frame", { run: id, tick: wanted, ...(near ? { near } : {}) }, signal).catch((problem) => { if (problem.name === "AbortError") throw problem; return { text: problem.message, words: true }; });

  // -- another tick beside it ---------------------------------------------------------------------------------

  async function compare(wanted) {
    pinned = wanted;
    arrange();
    remember({ compare: pinned });
    if (pinned !== null) other.show(await draw(pinned), pinned);
    await load(false);
  }

  function arrange() {
    const two = pinned !== null;
    screen.share = other.share = two ? 0.5 : 1;
    past.classList.toggle("comparing", two);
    changes.classList.toggle("hidden", !two);
    pin.textContent = two ? "Stop comparing" : "Compare with this tick";
    pin.setAttribute("aria-pressed", String(two));
    fill(shell, h("div.pair", null, two && other.bezel, screen.bezel), h("div.deck", null, playButton, speed, pin, h("button", { id: "fork", onclick: fork }, "Fork from here")));
    [screen, other].forEach((each) => { each.frame([]); each.fit(); });
  }

  async function frameChanges() {
    if (pinned === null || screen.canvas.parentElement.classList.contains("hidden")) return;
    const { regions, equal, changed_share } = await get("screenshots/diff", { run: id, a: `tick-${pinned}`, b: `tick-${screen.canvas.dataset.tick}` });
    [screen, other].forEach((each) => each.frame(regions));
    const words = equal ? "The pictures are identical." : `${number(100 * changed_share, 1)} % of the picture changed, in ${regions.length} place${regions.length === 1 ? "" : "s"}: they are framed.`;
    share.textContent = words;
  }

  async function showChanges(facts) {
    const before = await get(`tick/${pinned}`, { run: id }), rows = differences(before.state, facts.state);
    fill(changes, h("h2", null, `What changed from tick ${number(pinned)} to tick ${number(facts.tick)}`), share,
      rows.length ? h("table", null, h("thead", null, h("tr", null, h("th", null, ""), h("th", null, `tick ${number(pinned)}`), h("th", null, `tick ${number(facts.tick)}`))), h("tbody", null, rows.map(([name, a, b]) => h("tr", null, h("td.dim", null, name), h("td", null, a), h("td", null, h("b", null, b)))))) : h("p.dim", null, "The state is the same."));
  }

  function describe(facts) {
    const command = facts.step && commandName(detail, facts.step.command);
    fill(parts.head, fact("tick", `${number(facts.tick)} of ${number(facts.last_tick)}`), fact("command", command ?? "–"), fact("reward", number(facts.step?.reward, 3)),
      "Episode" in found.kinds || !detail.signals.length ? [fact("episode", facts.step ? `${number(facts.step.episode)}, step ${number(facts.step.step)}` : "–"), fact("return so far", number(facts.episode_return, 3))] : null, fact("played", span(facts.step?.elapsed)));
    showStateIn(parts, facts.state);
    fill(parts.decision, decisionPanel(facts.decision, command));
    const happened = facts.events.filter(({ kind }) => kind !== "PartySeen");
    fill(parts.events, h("h2", null, "In this tick"), happened.length ? h("ol.feed", null, happened.map((event) => h("li", { class: TONES[event.kind] ? `tone ${TONES[event.kind]}` : "" }, h("span.dim", null, WORDS[event.kind] || event.kind), h("span", null, event.title)))) : h("p.dim", null, "nothing happened"));
    parts.raw.textContent = JSON.stringify({ state_hash: facts.step?.state_hash, state: facts.state, info: facts.step?.info ?? undefined }, null, 1);
  }

  function jump(direction) {
    const ticks = events.filter(({ kind }) => shownKinds.has(kind)).map((event) => event.tick);
    const next = direction > 0 ? ticks.find((each) => each > tick) : ticks.findLast((each) => each < tick);
    if (next !== undefined) go(next);
  }

  const playback = new Playback({ draw, show: put, end: play, reach: (due) => {
    slider.value = box.value = tick = due;
    if (performance.now() - described > PANELS) { described = performance.now(); showFacts(tick); }
  } });
  signal.addEventListener("abort", () => playback.stop());
  const start = () => playback.start(tick, last, pace * Number(speed.value));

  function play() {
    playing = !playing;
    playButton.textContent = playing ? "Pause" : "Play";
    [side, shell].forEach((each) => each.classList.remove("stale"));
    go(playing && tick >= last ? 0 : tick);
  }

  function changeSpeed(by) {
    speed.selectedIndex = Math.min(SPEEDS.length - 1, Math.max(0, speed.selectedIndex + by));
    speed.dispatchEvent(new Event("change"));
  }

  async function fork() {
    const wanted = await ask("Fork from here", `A new run with this history up to tick ${number(tick)}; it starts playing at once.`, [{ name: "seed", label: "Seed for the agent (optional)", inputmode: "numeric" }, { name: "ticks", label: "Stop at tick (optional)", inputmode: "numeric" }], "Fork");
    if (!wanted) return;
    const made = await post("fork", { run: id }, { tick, ...(wanted.seed ? { random_seed: Number(wanted.seed) } : {}), ...(wanted.ticks ? { max_ticks: Number(wanted.ticks) } : {}) });
    toast("the fork has started");
    location.hash = `#/run/${made.run_id}/live`;
  }

  Object.assign(keys, { ArrowLeft: () => go(tick - 1), ArrowRight: () => go(tick + 1), "Shift+ArrowLeft": () => go(tick - 10), "Shift+ArrowRight": () => go(tick + 10),
    PageUp: () => go(tick - 100), PageDown: () => go(tick + 100), Home: () => go(0), End: () => go(last), "[": () => jump(-1), "]": () => jump(1), " ": play, "+": () => changeSpeed(1), "=": () => changeSpeed(1), "-": () => changeSpeed(-1) });
  const first = await get(`tick/${tick}`, { run: id }); // so that no panel is ever empty
  if (signal.aborted) return;
  describe(first);
  side.dataset.tick = tick;
  fill(past, shell, side);
  fill(main,
    h("section.card.scrub", null, h("div.track", null, marks), slider,
      h("div.row.spread", null, h("div.row.steps", null, h("button.small", { onclick: () => jump(-1), title: "Previous mark" }, "‹ mark"), h("button.small", { onclick: () => go(tick - 1), "aria-label": "Previous tick" }, "−1"), box,
        h("button.small", { onclick: () => go(tick + 1), "aria-label": "Next tick" }, "+1"), h("button.small", { onclick: () => jump(1), title: "Next mark" }, "mark ›")), legend)), past);
  drawMarks();
  arrange();
  screen.cover("DRAWING …");
  if (detail.live) await showPicture(tick, true); // from the run's memory, at once; the very tick may have to be drawn
  if (pinned === null) await go(tick);
  else { slider.value = box.value = tick; await compare(pinned); }
}

// The ends of episodes as marks, the higher the more they returned; of very many, some stand for those before them.
function episodeMarks(points, count) {
  const returns = points.map(([, value]) => value), low = Math.min(...returns), high = Math.max(...returns);
  return points.map(([tick, value], index) => ({ kind: "Episode", tick, height: high === low ? 16 : 6 + (24 * (value - low)) / (high - low),
    title: points.length === count ? `episode ${number(index + 1)}, return ${number(value, 3)}` : `episodes up to here, mean return ${number(value, 3)}` }));
}

const cut = (words) => (words.length > 80 ? `${words.slice(0, 80)} …` : words);

// What differs between two states, by name: both values as short text.
function differences(one, other, name = "") {
  const plain = (value) => value === null || typeof value !== "object" || Array.isArray(value);
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  if (one === null || other === null || plain(one) || plain(other)) return [[name.replaceAll("_", " ") || "state", cut(brief(one)), cut(brief(other))]];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => differences(one[key] ?? null, other[key] ?? null, name ? `${name} ${key}` : key));
}
