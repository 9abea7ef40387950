// A figure over the ticks, drawn as SVG with an axis on two sides; the pointer shows a value, and a click goes to its tick.
import { h, number } from "./dom.js";

const TITLES = {
  tick_rate_actual: "Ticks per second", current_level: "Highest level", party_health: "Party health", decision_latency_avg: "Decision latency",
  reward: "Total reward", episode_reward: "Return per episode", memory_usage_mb: "Memory", cost: "Cost", money: "Money",
  pokemon_caught: "Caught", badges_earned: "Badges", pokemon_party_size: "Party size", error_rate: "Errors",
};
const UNITLESS = new Set(["level", "reward", "species", "badges", "errors"]);

export function chart({ name, unit, points }, run) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y), last = xs.at(-1), first = Math.min(xs[0], last - 1);
  const zero = name === "memory_usage_mb" ? Infinity : 0, steps = ticks(Math.min(...ys, zero), Math.max(...ys));
  const low = Math.min(...ys, steps[0]), high = Math.max(...ys, steps.at(-1));
  const across = (x) => ((x - first) / (last - first)) * 100, down = (y) => 100 - ((y - low) / (high - low)) * 100;
  const line = (places) => places.map(([x, y]) => `${across(x).toFixed(2)},${down(y).toFixed(2)}`).join(" ");
  const each = name === "episode_reward"; // a point for each, and a line through their mean
  const value = h("b", null, shown(ys.at(-1), unit)), at = h("span.dim.num", null, `tick ${number(last)}`);
  const hair = h("line.hair", { y1: 0, y2: 100, x1: -9, x2: -9 });
  const drawing = h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
    steps.map((y) => h("line.grid", { x1: 0, x2: 100, y1: down(y), y2: down(y) })),
    each ? points.map((point) => h("line.dot", { x1: across(point[0]), x2: across(point[0]), y1: down(point[1]), y2: down(point[1]) })) : h("polygon.under", { points: `0,100 ${line(points)} 100,100` }),
    h("polyline.curve", { points: line(each ? means(points) : points) }), hair);
  const nearest = (event) => {
    const box = drawing.getBoundingClientRect(), wanted = first + ((event.clientX - box.left) / box.width) * (last - first);
    return points.reduce((best, point) => (Math.abs(point[0] - wanted) < Math.abs(best[0] - wanted) ? point : best));
  };
  const point = ([x, y], place) => { hair.setAttribute("x1", place); hair.setAttribute("x2", place); value.textContent = shown(y, unit); at.textContent = `tick ${number(x)}`; };
  drawing.addEventListener("pointermove", (event) => { const found = nearest(event); point(found, across(found[0])); });
  drawing.addEventListener("pointerleave", () => point(points.at(-1), -9));
  drawing.addEventListener("click", (event) => { location.hash = `#/run/${run}/timeline/${nearest(event)[0]}`; });
  const label = (side, place, words) => { const made = h(`span.${side}`, null, words); made.style[side === "y" ? "top" : "left"] = `${place}%`; return made; };
  return h("section.card.chart", { "data-name": name }, h("div.head", null, h("h2", null, TITLES[name] || name.replaceAll("_", " ")), value, at),
    h("div.plot", null, drawing, steps.map((y) => label("y", down(y), short(y))), ticks(first, last).filter((x) => Number.isInteger(x)).map((x) => label("x", across(x), short(x)))));
}

// Round numbers from low to high, about as many as are wanted; all of them lie inside unless there are too few.
function ticks(low, high, wanted = 4) {
  if (high === low) return [low, low + 1];
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place += 1) found.push(Number((place * step).toPrecision(12)));
  return found;
}

function means(points, span = 20) {
  return points.map(([x], index) => { const near = points.slice(Math.max(0, index - span + 1), index + 1); return [x, near.reduce((sum, [, y]) => sum + y, 0) / near.length]; });
}

const short = (value) => Math.abs(value) >= 10000 ? Number(value).toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 }) : number(value, 3);

function shown(value, unit) {
  if (unit === "dollars") return "$" + value.toFixed(2);
  return `${number(value, Math.abs(value) < 1 ? 3 : 1)}${unit && !UNITLESS.has(unit) ? " " + unit : ""}`;
}
