// Going back while a button or a key is held: the run is paused, goes back step by step, and plays on when let go.
import { post } from "./api.js";
import { h, sleep, toast } from "./dom.js";

const BEAT = 60; // milliseconds from one request to the next, at least: a client may change a run 20 times a second
const DOUBLES = 1000; // milliseconds after which a step is twice as long
const MOST = 1024; // ticks in a step
const SETTLES = 200; // milliseconds until the page has heard that the run is no longer paused

// *show* is called with the ticks in a step while the run goes back, and with 0 when it was let go.
export function rewinder({ id, signal, isPaused, show }) {
  let heldBy = null, busy = false, resumes = false;
  const hold = async (event) => {
    if (event.repeat || event.button > 0) return;
    if (event.key) event.preventDefault();
    else if (button.hasPointerCapture(event.pointerId)) button.releasePointerCapture(event.pointerId); // a finger that slides off lets go
    heldBy = event.key || "pointer";
    if (busy) return;
    busy = true;
    const wasPaused = isPaused();
    while (heldBy) await goBack(wasPaused);
    busy = false;
  };
  const letGo = ({ type, key }) => { if (type !== "keyup" || key === heldBy) heldBy = null; };
  const button = h("button", { id: "rewind", onpointerdown: hold, onpointerleave: letGo, oncontextmenu: (event) => event.preventDefault(),
    onkeydown: (event) => { if ([" ", "Enter"].includes(event.key)) hold(event); } }, "Rewind", h("kbd", null, "←"));
  for (const type of ["pointerup", "pointercancel", "keyup", "blur"]) addEventListener(type, letGo, { signal });
  document.addEventListener("visibilitychange", () => { if (document.hidden) heldBy = null; }, { signal });
  addEventListener("pagehide", () => { if (resumes) steer("resume", undefined, true); }, { signal });
  signal.addEventListener("abort", letGo);

  const steer = (verb, body, keepalive) => post(`control/${verb}`, { run: id }, body, keepalive);

  async function goBack(wasPaused) {
    let said = "";
    const fail = ({ message }) => { heldBy = null; if (message !== said) toast(message, true); said = message; };
    await follow(wasPaused).catch(fail);
    if (resumes) await steer("resume").catch(fail);
    resumes = false;
    show(0);
    await sleep(SETTLES);
  }

  async function follow(wasPaused) {
    const began = performance.now();
    show(1);
    resumes = !wasPaused; // before the answer comes: the page may be closed meanwhile
    let { tick } = await steer("pause").catch((problem) => { resumes = false; throw problem; });
    for (let said = false; heldBy;) {
      const beat = sleep(BEAT), ticks = Math.min(tick, MOST, 2 ** Math.floor((performance.now() - began) / DOUBLES));
      if (ticks) { show(ticks); ({ tick } = await steer("rewind", { ticks })); }
      else if (!said) { said = true; toast("this is the start of the run"); }
      await beat;
    }
  }

  return { button, hold };
}
