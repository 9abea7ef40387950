// The pool of emulators above the runs; nothing is shown when none runs.
import { get } from "./api.js";
import { fill, h, number, repeat, span } from "./dom.js";
import { fact } from "./panels.js";

const TONES = { healthy: "good", degraded: "warn", failed: "bad" };

export function poolPanel(signal) {
  const card = h("section.card.pool.hidden", { "aria-label": "Pool of emulators" });
  async function load() {
    const { started, status } = await get("pool");
    card.classList.toggle("hidden", !status);
    if (status) fill(card, shown(started, status));
  }
  load();
  repeat(signal, 2000, load);
  return card;
}

function shown(started, status) {
  return [
    h("div.row.spread", null, h("h2", null, `Pool of ${number(status.size)} emulators`), h("span.dim", null, `${started.world}, ${started.backend}, ${started.choice}`)),
    h("div.facts.three", null, fact("busy", `${number(status.busy)} of ${number(status.size)}`), fact("waiting", number(status.waiting)), fact("tasks done", number(status.executed)),
      fact("median", status.median_ms === null ? "–" : `${number(status.median_ms, 0)} ms`), fact("commands / s", number(status.commands_per_second, 0)), fact("replaced", number(status.replaced))),
    h("ol.emulators", null, status.members.map(member)),
    status.alerts.slice(-2).map((text) => h("p.alert.bad", { role: "alert" }, text)),
  ];
}

function member({ name, url, level, reasons, is_busy, served, restarts, speed, vitals }) {
  const figures = [`${number(served)} done`, speed !== null && `${number(speed, 0)}/s`, restarts > 0 && `${number(restarts)} restarts`, vitals?.uptime && `up ${span(vitals.uptime)}`];
  return h("li", { title: [url, ...reasons].filter(Boolean).join("\n") },
    h("span.pill", { class: TONES[level] }, level === "healthy" && is_busy ? "busy" : level),
    h("b", null, name), h("span.dim.num", null, figures.filter(Boolean).join(" · ")));
}
