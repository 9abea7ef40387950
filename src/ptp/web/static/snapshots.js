// Snapshots: take one, restore one, fork from one.
import { get, post } from "./api.js";
import { ago, ask, fill, h, number, repeat, toast } from "./dom.js";

export async function snapshotsView({ main, id, signal, detail, keys }) {
  const body = h("tbody"), count = h("span.dim.num");
  const table = h("div.tablewrap", null, h("table", null, h("thead", null, h("tr", null, [["Tick", "num"], ["Name"], ["Taken", "hide-small"], ["Where", "hide-small"], ["Size", "num hide-small"], [""]].map(([title, kind]) => h("th", { class: kind || "" }, title)))), body));
  table.style.marginTop = "14px";
  const take = h("button.main", { onclick: create }, "Take a snapshot", h("kbd", null, "n"));
  keys.n = () => take.click();
  fill(main, h("div.row.spread", null, h("div.row", null, h("span.dim", null, "A snapshot holds the world, the engine and the agent. Restore a run to it, or fork a new run from it."), count), take), table);

  async function load() {
    const answer = await get("snapshot/list", { run: id });
    if (signal.aborted) return;
    count.textContent = number(answer.total_count);
    fill(body, answer.snapshots.map((each) => h("tr", null,
      h("td.num", null, h("a", { href: `#/run/${id}/timeline/${each.tick}` }, number(each.tick))),
      h("td", null, h("b", null, each.name || "–"), h("div.sub", null, each.message || each.reason), h("div.sub.only-small", null, [ago(each.created_at), each.location].filter(Boolean).join(", "))), h("td.hide-small", null, ago(each.created_at)), h("td.hide-small", null, each.location || "–"),
      h("td.num.hide-small", null, each.on_disk ? `${number(each.bytes / 1000, 0)} kB` : h("span.pill.cool", null, "in memory")),
      h("td", null, h("div.row", null, h("button.small", { "data-restore": each.tick, onclick: () => restore(each) }, "Restore"), h("button.small", { onclick: () => fork(each) }, "Fork"))))));
    if (!answer.snapshots.length) fill(body, h("tr", null, h("td", { colspan: 6 }, h("div.empty", null, "No snapshots yet."))));
  }

  async function create() {
    const wanted = await ask("Take a snapshot", detail.live ? "Of the run as it is now." : "At the last tick of the run.", [{ name: "name", label: "Name (optional)", maxlength: 80 }, { name: "message", label: "Note (optional)", maxlength: 500 }], "Take snapshot");
    if (!wanted) return;
    await post("control/snapshot", { run: id }, { ...(wanted.name ? { name: wanted.name } : {}), ...(wanted.message ? { message: wanted.message } : {}) });
    load();
  }

  async function restore(each) {
    const about = `The run goes back to tick ${number(each.tick)}. Later ticks are discarded; the database keeps a copy of them.`;
    if (!(await ask("Restore this snapshot?", about, [], "Restore", true))) return;
    const done = await post(`snapshot/restore/${each.snapshot_id}`, { run: id });
    toast(done.live ? `the run continues from tick ${number(done.tick)}` : `restored to tick ${number(done.tick)}; resume with: ${done.next}`);
    load();
  }

  async function fork(each) {
    const wanted = await ask("Fork", `A new run with this history up to tick ${number(each.tick)}.`, [{ name: "seed", label: "Seed for the agent (optional)", inputmode: "numeric" }], "Fork");
    if (!wanted) return;
    const made = await post("fork", { run: id }, { tick: each.tick, ...(wanted.seed ? { random_seed: Number(wanted.seed) } : {}) });
    location.hash = `#/run/${made.run_id}/live`;
  }

  await load();
  repeat(signal, 4000, () => detail.live && !document.querySelector("dialog[open]") && load());
}
