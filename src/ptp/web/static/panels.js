// A state, a decision and events as panels, for the live view and the timeline.
import { brief, fill, h, money, number, TONES } from "./dom.js";

function statePanel(state) {
  if (!state) return h("p.dim", null, "no state yet");
  if (!("party" in state)) return Object.entries(state).map(([name, value]) => [h("h2", null, name[0].toUpperCase() + name.slice(1).replaceAll("_", " ")), h("p.seen.mono", null, brief(value))]);
  const place = state.coordinates ? ` · ${state.coordinates.x}, ${state.coordinates.y}${state.facing ? ", facing " + state.facing : ""}` : "";
  return h("div.stack", null,
    h("div", null, h("h2", null, "Where"), h("div.row.spread", null, h("span.place", null, state.location || "–"), state.screen_type && h("span.pill.cool", null, state.screen_type)),
      h("p.dim", null, `${state.player || "no player yet"}${place}`)),
    state.battle && battle(state.battle),
    state.dialog && h("p.say.quote", null, state.dialog),
    h("div.row", null, h("div.badges", { title: (state.badge_names || []).filter(Boolean).join(", ") || "no badges yet" },
      Array.from({ length: 8 }, (_, index) => h("span.badge", { class: index < (state.badges || 0) ? "won" : "" }, index + 1)))),
    h("div.facts.three", null, fact("caught", number(state.caught)), fact("species owned", number(state.owned)), fact("species seen", number(state.seen)), fact("money", number(state.money))),
    state.inventory?.length ? h("div.items", null, state.inventory.map((item) => h("span.chip", null, `${item.name || "item " + item.id} × ${item.quantity}`))) : null);
}

function battle({ kind, trainer, enemy, turn }) {
  return h("div.party", null, h("div.row.spread", null, h("span.pill.warn", null, `${kind || "lost"} battle${turn ? ", turn " + turn : ""}`), h("span.dim", null, trainer || "")),
    enemy && member({ ...enemy, nickname: enemy.species }));
}

export function showStateIn({ where, party }, state) {
  fill(where, statePanel(state));
  fill(party, partyPanel(state));
  party.classList.toggle("hidden", !state || !("party" in state));
  where.classList.toggle("wide", !state || !("party" in state));
}

function partyPanel(state) {
  const party = state?.party;
  return [h("h2", null, "Party"), party?.length ? h("div.party", null, party.map(member)) : h("p.dim", null, "empty")];
}

function member({ nickname, species, level, hp, max_hp, status }) {
  const share = max_hp ? hp / max_hp : 0;
  const level_of_health = h("i", { class: share > 0.5 ? "good" : share > 0.2 ? "warn" : "bad" });
  level_of_health.style.width = `${Math.round(share * 100)}%`;
  return h("div.member", null,
    h("span", null, h("b", null, nickname || species || "?"), h("span.dim", null, ` Lv ${level}`), status && h("span.pill.bad", null, status)),
    h("span.num.dim", null, `${hp} / ${max_hp}`),
    h("div.bar", { role: "meter", "aria-valuenow": hp, "aria-valuemin": 0, "aria-valuemax": max_hp, "aria-label": `HP of ${nickname || species}` }, level_of_health));
}

export function decisionPanel(decision, command) {
  if (!decision) return [h("h2", null, "Decision"), h("p.dim", null, command ? `command ${command}` : "none yet")];
  return [
    h("h2", null, "Decision", h("span.grow"), h("span.pill.cool", null, decision.type || "ACTION"), command && h("span.chip.mono", null, command)),
    decision.reasoning ? h("p.say.quote", null, decision.reasoning) : h("p.dim", null, "The agent gave no reason."),
    h("p.dim.num", null, [
      `after tick ${number(decision.tick)}`, decision.latency_ms !== null && `${number(decision.latency_ms, decision.latency_ms < 1 ? 2 : 0)} ms`,
      decision.confidence !== null && `${Math.round(decision.confidence * 100)} % sure`, decision.tokens !== null && `${number(decision.tokens)} tokens`,
      decision.cost !== null && money(decision.cost), decision.model, decision.error,
    ].filter(Boolean).join(" · ")),
  ];
}

export function fact(name, value) {
  return h("div", null, h("span", null, name), h("b", null, value));
}

export class Feed {
  constructor(run, most = 60) {
    this.run = run; this.most = most;
    this.list = h("ol.feed", { tabindex: 0, "aria-label": "Events" });
  }

  add(tick, kind, title) {
    const tone = TONES[kind];
    this.list.prepend(h("li", { class: tone ? `tone ${tone}` : "", "data-tick": tick }, h("a", { href: `#/run/${this.run}/timeline/${tick}`, title: "Go to this tick" }, number(tick)), h("span", null, title)));
    while (this.list.children.length > this.most) this.list.lastChild.remove();
  }

  // Forget what came after a tick, when the run went back there.
  forgetAfter(tick) { [...this.list.children].filter((line) => Number(line.dataset.tick) > tick).forEach((line) => line.remove()); }
}
