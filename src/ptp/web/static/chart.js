// A line over the ticks, drawn as SVG; the pointer shows the value.
import { h, number } from "./dom.js";

const TITLES = {
  tick_rate_actual: "Ticks per second", current_level: "Highest level", party_health: "Party health", decision_latency_avg: "Decision latency",
  reward: "Total reward", episode_reward: "Reward per episode", memory_usage_mb: "Memory", cost: "Cost", money: "Money",
};

export function chart({ name, unit, points }) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const low = Math.min(...ys, name === "memory_usage_mb" ? Math.min(...ys) : 0), high = Math.max(...ys), first = xs[0], last = xs.at(-1);
  const across = (x) => (last === first ? 0 : ((x - first) / (last - first)) * 300);
  const down = (y) => 116 - (high === low ? 0.5 : (y - low) / (high - low)) * 110;
  const line = points.map(([x, y]) => `${across(x).toFixed(1)},${down(y).toFixed(1)}`).join(" ");
  const value = h("b", null, shown(ys.at(-1), unit));
  const hair = h("line.hair", { y1: 0, y2: 120, x1: -10, x2: -10 });
  const drawing = h("svg", { viewBox: "0 0 300 120", preserveAspectRatio: "none", "aria-hidden": "true" },
    [6, 61, 116].map((y) => h("line.grid", { x1: 0, x2: 300, y1: y, y2: y })),
    h("polygon.under", { points: `0,120 ${line} ${across(last)},120` }), h("polyline.curve", { points: line }), hair);
  const at = h("span", null, `tick ${number(last)}`);
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect(), wanted = first + ((event.clientX - box.left) / box.width) * (last - first);
    const nearest = points.reduce((best, point) => (Math.abs(point[0] - wanted) < Math.abs(best[0] - wanted) ? point : best));
    hair.setAttribute("x1", across(nearest[0])); hair.setAttribute("x2", across(nearest[0]));
    value.textContent = shown(nearest[1], unit); at.textContent = `tick ${number(nearest[0])}`;
  });
  drawing.addEventListener("pointerleave", () => {
    hair.setAttribute("x1", -10); hair.setAttribute("x2", -10); value.textContent = shown(ys.at(-1), unit); at.textContent = `tick ${number(last)}`;
  });
  return h("section.card.chart", { "data-name": name }, h("div.head", null, h("h2", null, TITLES[name] || name), value), drawing,
    h("div.foot", null, h("span", null, `${shown(low, unit)} to ${shown(high, unit)}`), at));
}

function shown(value, unit) {
  if (unit === "dollars") return "$" + value.toFixed(2);
  return `${number(value, Math.abs(value) < 1 ? 3 : 1)}${unit && unit !== "level" && unit !== "reward" ? " " + unit : ""}`;
}
