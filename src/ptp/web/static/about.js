// Settings, versions and log of a run.
import { download, get } from "./api.js";
import { brief, clockTime, fill, h, repeat } from "./dom.js";

export async function aboutView({ main, id, signal, detail }) {
  const [settings, first] = await Promise.all([get("config", { run: id }), get("logs", { run: id, lines: 500 })]);
  if (signal.aborted) return;
  const log = h("div.log", { tabindex: 0, "aria-label": "Log" });
  let position = first.position;
  const add = (lines) => {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(...lines.map((line) => h("div", { class: line.level }, h("span.dim", null, clockTime(line.time)), h("span.dim.num", null, line.tick === null ? "" : `tick ${line.tick}`), h("span", null, line.message))));
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
  const pairs = (values) => h("dl.pairs", null, Object.entries(values).map(([key, value]) => h("div", { class: value === null ? "unset" : "" }, h("dt", null, key.replaceAll("_", " ")), h("dd.mono", null, shown(value)))));
  const card = (title, ...content) => h("section.card", null, h("h2", null, title), content);
  const sections = Object.entries(settings.config).filter(([, value]) => value && typeof value === "object");
  const exports = ["steps", "decisions", "events", "metrics"].map((what) => h("div.row.spread", null, h("span", null, what), h("div.row", null, ["csv", "json", "ndjson", "parquet"].map((format) => h("button.small", { onclick: () => download("export", { run: id, what, format }, `${id.slice(0, 13)}-${what}.${format}`) }, format)))));
  fill(main, h("div.about", null,
    card("Log", log), h("div.stack", null, card("Versions", pairs({ run: id, seed: detail.run.random_seed, ...detail.versions })), card("Download", h("div.stack", null, exports)))),
    h("h1.second", null, "Settings"), h("div.settings", null, sections.map(([name, values]) => card(name.replaceAll("_", " "), pairs(values)))));
  add(first.lines);
  log.scrollTop = log.scrollHeight;
  repeat(signal, 2000, async () => {
    if (!detail.live) return;
    const more = await get("logs", { run: id, after: position });
    position = more.position;
    add(more.lines);
  });
}

function shown(value) {
  if (value === true || value === false) return value ? "yes" : "no";
  return value !== null && typeof value === "object" && !Object.keys(value).length ? "none" : brief(value);
}
