// What an agent and its model said to each other, call by call.
import { get, picture } from "./api.js";
import { fill, h, money, number } from "./dom.js";

const PAGE = 100;
const WORDS = { "tool call": "calls", "tool result": "result of", system: "instructions:", thinking: "thinks:" };

export async function transcriptView({ main, id, signal }) {
  const list = h("div.stack"), more = h("button", { onclick: () => load(next) }, "Show more");
  let next = 0;
  fill(main, h("p.dim", null, "Every call of the model: what it was told since the one before, and what it answered."), list, more);

  async function load(from) {
    const { calls } = await get("transcript", { run: id, from_tick: from, limit: PAGE });
    if (signal.aborted) return;
    if (!from && !calls.length) fill(list, h("div.empty", null, "No calls yet."));
    list.append(...calls.map(call));
    next = calls.reduce((last, each) => Math.max(last, each.tick), from) + 1;
    more.classList.toggle("hidden", calls.length < PAGE);
  }

  function call(each) {
    const facts = [each.model, each.status, `${number(each.latency_ms, 0)} ms`, each.tokens_in !== null && `${number(each.tokens_in)} tokens in, ${number(each.tokens_out)} out`, each.cost !== null && money(each.cost)];
    return h("div.card", { "data-call": each.tick },
      h("h2", null, h("a", { href: `#/run/${id}/timeline/${each.tick}` }, `Tick ${number(each.tick)}`), h("span.grow"), h("span.dim.num", null, facts.filter(Boolean).join(" · "))),
      each.asked.map((part) => said(part, "dim")), each.answered.map((part) => said(part, "")), each.error && h("p.pill.bad", null, each.error));
  }

  function said({ kind, text, tool, hash }, tone) {
    if (kind === "picture") return shown(hash);
    const words = [WORDS[kind], tool].filter(Boolean).join(" ");
    return h("p.say.mono", { class: tone }, words && h("b", null, `${words} `), text || "");
  }

  function shown(hash) {
    const canvas = h("canvas", { role: "img", "aria-label": "the picture that the model was shown" });
    picture(`transcript/picture/${hash}`, { run: id }, signal).then(({ image }) => {
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext("2d").drawImage(image, 0, 0);
    });
    return canvas;
  }

  await load(0);
}
