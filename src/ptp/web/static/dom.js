// Small tools: elements, numbers for people, messages and questions.

export function h(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const svg = ["svg", "path", "polyline", "polygon", "line", "rect", "circle", "title"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag || "div");
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

export function number(value, digits = 1) {
  if (value === null || value === undefined) return "–";
  return Number(value).toLocaleString("en", { maximumFractionDigits: digits });
}

export function money(value) {
  return value === null || value === undefined ? "–" : "$" + Number(value).toFixed(value && value < 0.01 ? 4 : 2);
}

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.floor(seconds), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${whole % 60} s` : `${seconds < 10 ? seconds.toFixed(1) : whole} s`;
}

export function ago(stamp) {
  if (!stamp) return "–";
  const seconds = (Date.now() - new Date(stamp)) / 1000;
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(stamp).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

export function clockTime(stamp) {
  return stamp ? new Date(stamp).toLocaleTimeString() : "–";
}

// An observation or a command as short text: numbers rounded, a large array as its shape.
export function brief(value) {
  if (typeof value === "string" && /^[[{]/.test(value)) { try { return brief(JSON.parse(value)); } catch { return value; } }
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(Math.abs(value) < 1 ? 3 : 4)));
  if (Array.isArray(value)) return value.length === 1 ? brief(value[0]) : `[${value.map(brief).join(", ")}]`;
  if (value && typeof value === "object") return "dtype" in value && "shape" in value ? `${value.dtype} ${value.shape.join(" × ")}` : Object.entries(value).map(([name, item]) => `${name} ${brief(item)}`).join(", ");
  return value === null || value === undefined ? "–" : String(value);
}

export const commandName = (detail, command) => detail.command_names[/^\d{1,4}$/.test(command) ? Number(command) : -1] ?? brief(command ?? null);

// Returns what does *work* for the newest value that it is given, one after the other; values that come too fast are left out.
export function newestOnly(work) {
  let waiting = [], busy = false;
  return async (...values) => {
    waiting = [values];
    if (busy) return;
    busy = true;
    try { while (waiting.length) await work(...waiting.pop()); } finally { busy = false; }
  };
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Does *work* again and again while a view is shown and the page is seen; what fails is done again the next time.
export function repeat(signal, milliseconds, work) {
  if (signal.aborted) return;
  const timer = setInterval(() => { if (!document.hidden) Promise.resolve(work()).catch(() => {}); }, milliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
}

export function pill(status, paused) {
  const words = { running: "live", completed: "completed", crashed: "crashed", manual_stop: "stopped", lost: "no connection", rewinding: "going back" };
  return paused ? h("span.pill.paused", null, "paused") : h(`span.pill.${status}`, null, words[status] || status);
}

export function toast(text, bad = false) {
  const message = h("div.toast", { class: bad ? "bad" : "" }, text);
  document.getElementById("toasts").append(message);
  setTimeout(() => message.remove(), bad ? 8000 : 3500);
}

export function ask(title, about, fields = [], action = "OK", danger = false) {
  const dialog = document.getElementById("dialog");
  return new Promise((resolve) => {
    const inputs = fields.map((field) => h("input", { type: "text", autocomplete: "off", ...field, id: `ask-${field.name}` }));
    const form = h("form", { method: "dialog" },
      h("h3", null, title), h("p.dim", null, about),
      inputs.map((input, index) => h("label", { for: input.id }, fields[index].label, input)),
      h("div.row", null,
        h("button", { type: "button", onclick: () => dialog.close("no") }, "Cancel"),
        h("button", { type: "submit", value: "yes", class: danger ? "danger" : "main" }, action)));
    fill(dialog, form);
    dialog.onclose = () => {
      const agreed = dialog.returnValue === "yes";
      dialog.returnValue = "";
      resolve(agreed ? Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()])) : null);
    };
    dialog.showModal();
    inputs[0]?.focus();
  });
}

export const TONES = {
  Caught: "good", BadgeEarned: "good", LevelUp: "good", Joined: "good", Evolved: "good",
  BattleStarted: "warn", BattleEnded: "warn", BattleTurn: "warn", Encounter: "warn",
  Fainted: "bad", Error: "bad", MapChanged: "cool", DialogShown: "", Rewind: "odd", Episode: "cool",
};
export const WORDS = {
  Caught: "catch", BadgeEarned: "badge", LevelUp: "level up", Joined: "joined", Evolved: "evolved", BattleStarted: "battle",
  BattleEnded: "battle end", BattleTurn: "turn", Encounter: "encounter", Fainted: "faint", Error: "error", MapChanged: "map",
  DialogShown: "dialog", Rewind: "rewind", ItemChanged: "item", MoneyChanged: "money", PartySeen: "party", Episode: "episode",
};
