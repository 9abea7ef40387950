// Requests to the server: each carries the token, which came behind the hash of the address.
import { ask } from "./dom.js";

const KEY = "ptp-token";

export function takeToken() {
  const found = /[#&]token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + "#/");
}

function headers(extra) {
  const token = sessionStorage.getItem(KEY);
  return { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...extra };
}

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

// Whether the server answers. When it does not, the page says so, and looks until it does again.
let connected = true;
export async function look() {
  const answers = await fetch("/healthz", { method: "HEAD", cache: "no-store" }).then((response) => response.ok, () => false);
  if (answers !== connected) { connected = answers; dispatchEvent(new Event(answers ? "connection-found" : "connection-lost")); }
}
setInterval(() => { if (!document.hidden || !connected) look(); }, 2000);
export const isConnected = () => connected;

async function request(path, options = {}) {
  const response = await fetch(path, { ...options, headers: headers(options.headers), cache: options.cache || "no-store" }).catch((problem) => {
    if (problem.name !== "AbortError") look();
    throw problem;
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ message: response.statusText }));
  throw new Refused(response.status, problem.message);
}

async function withToken(work) {
  try { return await work(); } catch (problem) {
    if (problem.status !== 401) throw problem;
    const given = await ask("Token", "Enter the token that `ptp dashboard` printed.", [{ name: "token", label: "Token", type: "password" }], "Continue");
    if (!given) throw problem;
    sessionStorage.setItem(KEY, given.token);
    return work();
  }
}

export function query(path, values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `/api/v1/${path}${given.length ? "?" + new URLSearchParams(given) : ""}`;
}

export const get = (path, values) => withToken(async () => (await request(query(path, values))).json());
export const post = (path, values, body, keepalive = false) => withToken(async () => (await request(query(path, values), {
  method: "POST", keepalive, headers: { "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body) })).json());

export async function picture(path, values, signal) {
  const response = await withToken(() => request(query(path, values), { signal, cache: "default" }));
  const tick = response.headers.has("x-tick") ? Number(response.headers.get("x-tick")) : undefined;
  if (response.headers.get("content-type").startsWith("text/")) return { text: await response.text(), tick };
  return { image: await createImageBitmap(await response.blob()), tick };
}

export async function download(path, values, name) {
  const blob = await (await withToken(() => request(query(path, values)))).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Server-sent events over fetch, so that the token can be a header. Ends when the run does; without the event `end`, the connection broke.
export async function listen(path, values, handlers, signal) {
  const response = await withToken(() => request(query(path, values), { signal }));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1], data = /^data: (.*)$/m.exec(block)?.[1];
      if (event && data) handlers[event]?.(JSON.parse(data));
    }
  }
}
