// The action log as a table: filter, search, pages.
import { download, get } from "./api.js";
import { brief, clockTime, fill, h, number, repeat } from "./dom.js";

const FIRST = { kind: "all", q: "", action: "", order: "desc", page: 1 };

export async function actionsView({ main, id, signal, detail, query }) {
  const view = { ...FIRST, ...query, run: id, page: Number(query.page) || 1, page_size: 100 };
  const body = h("tbody"), pager = h("div.pager"), count = h("span.dim.num");
  let typing = null;
  const again = () => { view.page = 1; clearTimeout(typing); typing = setTimeout(load, 200); };
  const search = h("input", { type: "search", placeholder: "Search actions", "aria-label": "Search actions", value: view.q, oninput: () => { view.q = search.value; again(); } });
  const kinds = h("select", { "aria-label": "Kind", onchange: () => { view.kind = kinds.value; again(); } }, [["all", "commands and events"], ["commands", "commands"], ["events", "events"]].map(([value, title]) => h("option", { value, selected: value === view.kind }, title)));
  const names = h("select", { "aria-label": "Action", onchange: () => { view.action = names.value; again(); } }, h("option", { value: "" }, "all actions"));
  const order = h("select", { "aria-label": "Order", onchange: () => { view.order = order.value; again(); } }, h("option", { value: "desc" }, "newest first"), h("option", { value: "asc", selected: view.order === "asc" }, "oldest first"));
  const save = h("select", { "aria-label": "Download", onchange: () => { if (save.value) download("export", { run: id, what: "steps", format: save.value }, `steps.${save.value}`); save.value = ""; } }, h("option", { value: "" }, "Download …"), ["csv", "json", "ndjson", "parquet"].map((value) => h("option", { value }, value)));
  const table = h("div.tablewrap", null, h("table", null, h("thead", null, h("tr", null, [["Tick", "num"], ["Time", "num hide-small"], ["Action"], ["Details"], ["Latency", "num hide-small"]].map(([title, kind]) => h("th", { class: kind || "" }, title)))), body));
  table.style.marginTop = "14px";
  fill(main, h("div.row.spread", null, count, h("div.row.filters", null, search, kinds, names, order, save)), table, pager);
  const { kinds: known } = await get("events", { run: id, limit: 1 });
  const choices = [...detail.commands.filter((name) => !name.startsWith("[")), ...Object.keys(known).filter((name) => !["Error", "Rewind", "Episode"].includes(name))];
  names.append(...[...new Set([...choices, view.action])].filter(Boolean).map((value) => h("option", { value, selected: value === view.action }, value)));

  async function load() {
    if (signal.aborted) return;
    const changed = Object.entries(FIRST).filter(([name, value]) => view[name] !== value).map(([name]) => [name, view[name]]);
    history.replaceState(null, "", `#/run/${id}/actions${changed.length ? "?" + new URLSearchParams(changed) : ""}`);
    const answer = await get("actions", view);
    if (signal.aborted) return;
    count.textContent = `${number(answer.total_count)} actions`;
    fill(body, answer.actions.map(line));
    if (!answer.actions.length) fill(body, h("tr", null, h("td", { colspan: 5 }, h("div.empty", null, "No matching actions."))));
    const pages = Math.max(1, Math.ceil(answer.total_count / view.page_size));
    const turn = (page) => h("button.small", { disabled: page < 1 || page > pages || page === view.page, onclick: () => { view.page = page; load(); main.scrollIntoView(); } });
    const [first, back, on, end] = [1, view.page - 1, view.page + 1, pages].map(turn);
    first.append("First"); back.append("Previous"); on.append("Next"); end.append("Last");
    fill(pager, first, back, h("span.dim.num", null, `${number(view.page)} of ${number(pages)}`), on, end);
  }

  function line({ timestamp, action, context, latency_ms, confidence }) {
    const { tick, from, to, location: place, reasoning, episode, reward, decision, ...rest } = context;
    const event = !("reward" in context);
    const moved = from && to && (from.x !== to.x || from.y !== to.y) ? `${from.x},${from.y} → ${to.x},${to.y}` : "";
    const at = clockTime(timestamp), late = latency_ms === null ? "" : `${number(latency_ms, 2)} ms`;
    const words = event ? Object.entries(rest).filter(([, value]) => value !== null && typeof value !== "object").map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(" · ") : reasoning || "";
    return h("tr", null, h("td.num", null, h("a", { href: `#/run/${id}/timeline/${tick}` }, number(tick))), h("td.num.dim.hide-small", null, at),
      h("td", null, event ? h("span.pill.warn", null, action.toLowerCase().replaceAll("_", " ")) : h("span.chip.mono", { title: action.length > 24 ? action : null }, brief(action).toLowerCase())),
      h("td", null, words, h("div.sub", null, [decision, place, moved, reward ? `reward ${number(reward, 3)}` : ""].filter(Boolean).join(" · ")), h("div.sub.only-small", null, [at, late].filter(Boolean).join(" · "))),
      h("td.num.hide-small", null, late, confidence !== null && h("div.sub", null, `${Math.round(confidence * 100)} %`)));
  }

  await load();
  repeat(signal, 2000, () => detail.live && view.page === 1 && view.order === "desc" && !table.matches(":hover") && load());
}
