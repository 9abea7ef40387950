// All runs: filter, sort, pages.
import { get } from "./api.js";
import { ago, fill, h, money, number, pill, repeat } from "./dom.js";
import { poolPanel } from "./pool.js";

const COLUMNS = [["status", "Status", "hide-small"], ["world", "World"], ["agent", "Agent", "hide-small"], ["started_at", "Started", "hide-small"], ["ticks", "Ticks", "num"],
  ["episodes", "Episodes", "num hide-small"], ["total_reward", "Reward", "num"], ["total_cost", "Cost", "num hide-small"]];
const FILTERS = { status: "all statuses", world: "all worlds", agent: "all agents", tag: "all tags" };
const FIRST = { q: "", status: "", world: "", agent: "", tag: "", sort: "started_at", descending: true, page: 1 };
let address = "#/";

// Where the list is, with the filter that it was left with.
export const listAddress = () => address;

export async function runsView({ main, signal, crumbs, query }) {
  const view = { ...FIRST, ...query, descending: query.descending !== "false", page: Number(query.page) || 1, page_size: 50 };
  crumbs(h("b", null, "Runs"));
  document.title = "Runs · ptp";
  const body = h("tbody"), head = h("tr"), pager = h("div.pager"), count = h("span.dim.num");
  const search = h("input", { type: "search", placeholder: "Search runs", "aria-label": "Search runs", value: view.q, oninput: () => choose("q", search.value) });
  const selects = Object.fromEntries(Object.keys(FILTERS).map((name) => [name, h("select", { "aria-label": name, onchange: (event) => choose(name, event.target.value) })]));
  const table = h("div.tablewrap", null, h("table", null, h("thead", null, head), body));
  fill(main, h("div.row.spread", null, h("div.row", null, h("h1", null, "Runs"), count), h("div.row.filters", null, search, Object.values(selects))), h("div", { class: "pad-top" }), poolPanel(signal), table, pager);
  table.style.marginTop = "16px";

  function choose(name, value) {
    view[name] = value;
    view.page = 1;
    load();
  }

  function choices(name, values) {
    fill(selects[name], h("option", { value: "" }, FILTERS[name]), values.map((value) => h("option", { value, selected: value === view[name] }, value)));
  }

  async function load() {
    if (signal.aborted) return;
    const changed = Object.entries(FIRST).filter(([name, value]) => view[name] !== value).map(([name]) => [name, view[name]]);
    address = `#/${changed.length ? "?" + new URLSearchParams(changed) : ""}`;
    history.replaceState(null, "", address);
    const answer = await get("runs", view);
    if (signal.aborted) return;
    count.textContent = `${number(answer.total_count)}${answer.unreadable ? `, ${answer.unreadable} unreadable` : ""}`;
    choices("status", Object.keys(answer.statuses));
    choices("world", answer.worlds);
    choices("agent", answer.agents);
    choices("tag", answer.tags);
    selects.tag.classList.toggle("hidden", !answer.tags.length && !view.tag);
    fill(head, COLUMNS.map(([key, title, kind]) => h("th", { class: kind || "", "aria-sort": view.sort === key ? (view.descending ? "descending" : "ascending") : null },
      h("button", { onclick: () => { view.descending = view.sort === key ? !view.descending : true; view.sort = key; load(); } }, title, view.sort === key ? (view.descending ? " ↓" : " ↑") : ""))));
    fill(body, answer.runs.map(line));
    if (!answer.runs.length) fill(body, h("tr", null, h("td", { colspan: 8 }, h("div.empty", null, Object.values(answer.statuses).length ? "No matching runs." : [h("h1", null, "No runs yet"), h("p", null, "This dashboard shows the runs in ", h("b.mono", null, answer.data_dir)), h("p", null, "Start one, and it appears here:"), h("code", null, `ptp run --world tallgrass --agent explorer --tick-rate-base 20 --data-dir ${/\s/.test(answer.data_dir) ? `'${answer.data_dir}'` : answer.data_dir}`)]))));
    const pages = Math.max(1, Math.ceil(answer.total_count / view.page_size));
    fill(pager, pages > 1 ? [h("button.small", { disabled: view.page <= 1, onclick: () => { view.page -= 1; load(); } }, "Newer"), h("span.dim.num", null, `${view.page} of ${number(pages)}`),
      h("button.small", { disabled: view.page >= pages, onclick: () => { view.page += 1; load(); } }, "Older")] : []);
  }

  function tags(run) {
    const chip = (tag) => h("button.tag", { title: `Only runs with the tag ${tag}`, onclick: (event) => { event.stopPropagation(); choose("tag", tag); } }, tag);
    return run.tags.length ? h("div.items", null, run.tags.map(chip)) : null;
  }

  function line(run) {
    const open = () => { location.hash = `#/run/${run.run_id}`; };
    return h("tr.link", { onclick: open },
      h("td.hide-small", null, pill(run.status)),
      h("td", null, h("div.only-small", null, pill(run.status)), h("a", { href: `#/run/${run.run_id}` }, h("b", null, run.world)), h("div.sub.mono.hide-small", null, run.run_id.slice(0, 13)), h("div.sub.only-small", null, `${run.agent}, ${ago(run.started_at)}`), tags(run)),
      h("td.hide-small", null, run.agent, run.parent && h("div.sub", null, "fork")), h("td.hide-small", null, ago(run.started_at), h("div.sub", null, run.error || run.stopped_by || "")),
      h("td.num", null, number(run.ticks)), h("td.num.hide-small", null, number(run.episodes)), h("td.num", null, number(run.total_reward, 2)), h("td.num.hide-small", null, run.total_cost ? money(run.total_cost) : "–"));
  }

  await load();
  repeat(signal, 3000, () => !document.activeElement?.matches("select") && load());
}
