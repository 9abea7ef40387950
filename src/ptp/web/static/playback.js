// Playing recorded ticks by the clock: pictures are fetched ahead, and left out where more are due than can be had.

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const AT_ONCE = 3; // requests under way
const AHEAD = 1500; // milliseconds of play that are fetched ahead
const SMOOTH = 1000 / 60; // milliseconds between two pictures, at least
const NEWER = 0.2; // share of the newest measurement in a mean

// *draw* fetches the picture of a tick, *show* shows one, *reach* hears the tick that is due, *end* that the last was shown.
export class Playback {
  constructor({ draw, show, reach, end }) {
    Object.assign(this, { draw, show, reach, end, ready: new Map(), turn: null, under: 0 });
    this.takes = SMOOTH; // milliseconds from one picture that came to the next
    this.waits = 100; // milliseconds from a request to its picture
  }

  // Play from a tick to the last at so many ticks per second, as soon as two pictures have come; called again, it plays from there at that rate instead.
  start(tick, last, rate) {
    this.stop();
    Object.assign(this, { turn: {}, first: tick, last, rate: rate / 1000, began: null, asked: tick - 1, shown: tick - 1 });
    this.beat();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.turn = null;
    this.ready.forEach(({ image }) => image?.close());
    this.ready.clear();
  }

  // The tick that is due now, or in some milliseconds.
  due(later = 0) { return this.began === null ? this.first : Math.min(this.last, Math.floor(this.first + (performance.now() - this.began + later) * this.rate)); }

  beat() {
    const due = this.due();
    this.showNewest(due);
    this.reach(due);
    this.fetchAhead();
    if (this.shown < this.last) this.frame = requestAnimationFrame(() => this.beat());
    else { this.stop(); this.end(); }
  }

  showNewest(due) {
    const passed = [...this.ready.keys()].filter((tick) => tick <= due).sort((a, b) => a - b);
    for (const tick of passed) {
      const picture = this.ready.get(tick);
      this.ready.delete(tick);
      if (tick === passed.at(-1) && tick > this.shown) { this.shown = tick; this.show(picture, tick); }
      else picture.image?.close();
    }
  }

  fetchAhead() {
    while (this.turn && this.under < AT_ONCE && this.asked < this.last) {
      const stride = Math.max(1, Math.ceil(this.rate * Math.max(SMOOTH, this.takes))); // so that pictures keep up
      const next = this.asked < this.first ? this.first : Math.min(this.last, Math.max(this.asked + stride, this.due(this.waits))); // not one that is over when it comes
      if (next > this.due(AHEAD) + 2 * stride) return;
      this.fetch(next);
    }
  }

  async fetch(tick) {
    const { turn } = this, began = performance.now();
    this.asked = tick;
    this.under += 1;
    const picture = await this.draw(tick).catch((problem) => { if (turn === this.turn) throw problem; }).finally(() => { this.under -= 1; });
    if (turn === this.turn) {
      const took = performance.now() - began;
      this.waits += NEWER * (took - this.waits);
      this.takes += NEWER * (took / (this.under + 1) - this.takes);
      this.ready.set(tick, picture);
      if (this.began === null && (tick > this.first || tick === this.last)) this.began = performance.now();
    } else picture?.image?.close();
    this.fetchAhead();
  }
}
