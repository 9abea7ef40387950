// Settings, versions and log of a run.
import { download, get } from "./api.js";
import { clockTime, fill, h } from "./dom.js";

export async function aboutView({ main, id, signal, detail }) {
  const [settings, first] = await Promise.all([get("config", { run: id }), get("logs", { run: id, lines: 500 })]);
  if (signal.aborted) return;
  const log = h("div.log", { tabindex: 0, "aria-label": "Log" });
  let position = first.position;
  const add = (lines) => {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(...lines.map((line) => h("div", { class: line.level }, h("span.dim", null, clockTime(line.time)), h("span.dim", null, line.tick ?? ""), h("span", null, line.message))));
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
  const sections = Object.entries(settings.config).filter(([, value]) => value && typeof value === "object");
  const exports = ["steps", "decisions", "events", "metrics"].map((what) => h("div.row", null, h("b", null, what), ["csv", "json", "ndjson", "parquet"].map((format) => h("button.small", { onclick: () => download("export", { run: id, what, format }, `${id.slice(0, 13)}-${what}.${format}`) }, format))));
  fill(main, h("div.charts", null,
    h("section.card", null, h("h2", null, "Log"), log),
    h("section.card", null, h("h2", null, "Download"), h("div.party", null, exports)),
    h("section.card", null, h("h2", null, "Versions"), h("div.keys", null, Object.entries({ run: id, seed: detail.run.random_seed, ...detail.versions }).map(([name, value]) => [h("span.dim", null, name), h("code", null, String(value))]))),
    sections.map(([name, values]) => h("section.card", null, h("h2", null, name.replaceAll("_", " ")), h("div.keys", null, Object.entries(values).map(([key, value]) => [h("span.dim", null, key.replaceAll("_", " ")), h("code", null, value === null ? "–" : String(value))]))))));
  add(first.lines);
  log.scrollTop = log.scrollHeight;
  const timer = setInterval(async () => {
    if (!detail.live || document.hidden) return;
    const more = await get("logs", { run: id, after: position });
    position = more.position;
    add(more.lines);
  }, 2000);
  signal.addEventListener("abort", () => clearInterval(timer));
}
