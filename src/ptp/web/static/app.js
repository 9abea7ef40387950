// The page: which view an address means, and what all views share.
import { isConnected, takeToken } from "./api.js";
import { fill, h, pill, toast } from "./dom.js";
import { runsView } from "./runs.js";
import { runView } from "./run.js";

const main = document.getElementById("main");
let leave = () => {};
let keys = {};

async function show() {
  const [path, search] = location.hash.split("?");
  const [, place, run, tab, extra] = path.split("/");
  const going = new AbortController();
  leave();
  leave = () => going.abort();
  keys = {};
  const page = { main, signal: going.signal, keys, run, tab: tab || "live", extra, query: Object.fromEntries(new URLSearchParams(search)), crumbs };
  try {
    await (place === "run" && run ? runView(page) : runsView(page));
  } catch (problem) {
    if (going.signal.aborted) return;
    fill(main, h("div.empty", null, h("h1", null, "Something went wrong"), h("p", null, problem.message), h("p", null, h("a", { href: "#/" }, "All runs"))));
  }
}

function crumbs(...parts) {
  fill(document.getElementById("crumbs"), parts.map((part) => [h("span", null, "/"), part]));
}

const KEYS = [["r", "all runs"], ["1 … 5", "views of a run"], ["p", "pause or resume"], ["s", "step one tick"], ["n", "take a snapshot"], ["← held", "go back in a live run, ever faster; it plays on when let go"], ["← →", "previous or next tick (with Shift, ten)"],
  ["[ ]", "previous or next event"], ["Home End", "first or last tick"], ["Space", "play the timeline"], ["+ −", "play it faster or slower"], ["t", "light or dark"], ["?", "this help"]];

function help() {
  const dialog = document.getElementById("dialog");
  fill(dialog, h("h3", null, "Keys"), h("div.keys", null, KEYS.map(([key, what]) => [h("kbd", null, key), h("span", null, what)])),
    h("form.row", { method: "dialog" }, h("button.main", null, "Close")));
  dialog.showModal();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function turnTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("ptp-theme", theme);
  setTheme(theme);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("ptp-theme") || (dark.matches ? "dark" : "light");
setTheme(chosen());
dark.addEventListener("change", () => setTheme(chosen()));
document.getElementById("theme").onclick = turnTheme;
document.getElementById("help").onclick = help;

addEventListener("keydown", (event) => {
  const typing = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) && event.target.type !== "range";
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const common = { "?": help, t: turnTheme, r: () => { location.hash = "#/"; } };
  const action = keys[(event.shiftKey && event.key.length > 1 ? "Shift+" : "") + event.key] || common[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
});
addEventListener("unhandledrejection", (event) => {
  if (isConnected() && event.reason?.name !== "AbortError") toast(event.reason?.message || String(event.reason), true);
});
addEventListener("connection-lost", () => {
  document.getElementById("offline").classList.remove("hidden");
  document.querySelectorAll(".pill.running, .pill.paused").forEach((shown) => shown.replaceWith(pill("lost")));
});
addEventListener("connection-found", () => {
  document.getElementById("offline").classList.add("hidden");
  toast("connected again");
  show();
});
addEventListener("hashchange", () => { takeToken(); show(); });
takeToken();
show();
