// Snapshots: take one, go back to one, fork from one.
import { get, post } from "./api.js";
import { ago, ask, fill, h, number, toast } from "./dom.js";

export async function snapshotsView({ main, id, signal, detail, keys }) {
  const body = h("tbody"), count = h("span.dim.num");
  const table = h("div.tablewrap", null, h("table", null, h("thead", null, h("tr", null, ["Tick", "Name", "Taken", "Where", "Size", ""].map((title, index) => h("th", { class: [0, 4].includes(index) ? "num" : "" }, title)))), body));
  table.style.marginTop = "14px";
  const take = h("button.main", { onclick: create }, "Take a snapshot", h("kbd", null, "n"));
  keys.n = () => take.click();
  fill(main, h("div.row.spread", null, h("div.row", null, h("span.dim", null, "A snapshot holds world, engine and agent; a run can go back to it or be forked from it."), count), take), table);

  async function load() {
    const answer = await get("snapshot/list", { run: id });
    if (signal.aborted) return;
    count.textContent = number(answer.total_count);
    fill(body, answer.snapshots.map((each) => h("tr", null,
      h("td.num", null, h("a", { href: `#/run/${id}/timeline/${each.tick}` }, number(each.tick))),
      h("td", null, h("b", null, each.name || "–"), h("div.sub", null, each.message || each.reason)), h("td", null, ago(each.created_at)), h("td", null, each.location || "–"),
      h("td.num", null, each.on_disk ? `${number(each.bytes / 1000, 0)} kB` : h("span.pill.cool", null, "in memory")),
      h("td", null, h("div.row", null, h("button.small", { "data-restore": each.tick, onclick: () => restore(each) }, "Go back to it"), h("button.small", { onclick: () => fork(each) }, "Fork"))))));
    if (!answer.snapshots.length) fill(body, h("tr", null, h("td", { colspan: 6 }, h("div.empty", null, "No snapshots yet."))));
  }

  async function create() {
    const wish = await ask("Take a snapshot", detail.live ? "Of the run as it is now." : "At the last tick of the run.", [{ name: "name", label: "Name (may be empty)", maxlength: 80 }, { name: "message", label: "Note (may be empty)", maxlength: 500 }], "Take it");
    if (!wish) return;
    await post("control/snapshot", { run: id }, { ...(wish.name ? { name: wish.name } : {}), ...(wish.message ? { message: wish.message } : {}) });
    load();
  }

  async function restore(each) {
    const about = `The run goes back to tick ${number(each.tick)}. What came after it is given up; it is kept aside in the database.`;
    if (!(await ask("Go back?", about, [], "Go back", true))) return;
    const done = await post(`snapshot/restore/${each.snapshot_id}`, { run: id });
    toast(done.live ? `the run plays on from tick ${number(done.tick)}` : `back at tick ${number(done.tick)}; go on with: ${done.next}`);
    load();
  }

  async function fork(each) {
    const wish = await ask("Fork", `A new run with this history up to tick ${number(each.tick)}.`, [{ name: "seed", label: "Another seed for the agent (may be empty)", inputmode: "numeric" }], "Fork");
    if (!wish) return;
    const made = await post("fork", { run: id }, { tick: each.tick, ...(wish.seed ? { random_seed: Number(wish.seed) } : {}) });
    location.hash = `#/run/${made.run_id}/live`;
  }

  await load();
  const timer = setInterval(() => { if (detail.live && !document.hidden && !document.querySelector("dialog[open]")) load().catch(() => {}); }, 4000);
  signal.addEventListener("abort", () => clearInterval(timer));
}
