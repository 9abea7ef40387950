// One run: its head, and the ways to look at it.
import { get } from "./api.js";
import { fill, h, pill } from "./dom.js";
import { aboutView } from "./about.js";
import { actionsView } from "./actions.js";
import { liveView } from "./live.js";
import { listAddress } from "./runs.js";
import { snapshotsView } from "./snapshots.js";
import { timelineView } from "./timeline.js";
import { transcriptView } from "./transcript.js";

const TABS = { live: ["Live", liveView], timeline: ["Timeline", timelineView], actions: ["Actions", actionsView], snapshots: ["Snapshots", snapshotsView], about: ["Settings", aboutView], transcript: ["Transcript", transcriptView] };

export async function runView(page) {
  const { main, run, tab, keys, crumbs } = page;
  const detail = await get("run", { run });
  if (page.signal.aborted) return;
  const id = detail.run.run_id, name = `${detail.run.agent} in ${detail.run.world}`;
  document.title = `${name} · ptp`;
  crumbs(h("a", { href: listAddress() }, "Runs"), h("b.mono", null, id.slice(0, 13)));
  const status = h("span", { role: "status" }, pill(detail.run.status, detail.paused));
  const body = h("div");
  const tabs = Object.entries(TABS).filter(([key]) => key !== "transcript" || detail.model).map(([key, [title]], index) => {
    keys[String(index + 1)] = () => { location.hash = `#/run/${id}/${key}`; };
    const label = key === "live" && !detail.live ? "Overview" : title;
    return h("a", { href: `#/run/${id}/${key}`, "aria-current": key === tab ? "page" : null }, label);
  });
  fill(main,
    h("div.row", null, h("h1", null, name), status, detail.run.tags.map((tag) => h("span.chip", null, tag)), detail.run.parent && h("span.dim", null, "forked from ", h("a", { href: `#/run/${detail.run.parent}/timeline/${detail.parent_tick}` }, `${detail.run.parent.slice(0, 13)} at tick ${detail.parent_tick}`))),
    h("nav.tabs", { "aria-label": "Views" }, tabs), body);
  const show = TABS[tab] || TABS.live;
  await show[1]({ ...page, main: body, id, detail, setStatus: (paused, live = true, back = false) => fill(status, back ? pill("rewinding") : pill(live ? "running" : detail.run.status, live && paused)) });
}
