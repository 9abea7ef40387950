// The screen of the game, at a whole multiple of its size, with frames around what differs from another.
import { fill, h, number } from "./dom.js";

const sides = (element) => { const style = getComputedStyle(element); return ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"].reduce((sum, name) => sum + (parseFloat(style[name]) || 0), 0); };

export class Screen {
  constructor(largest = 4) {
    this.canvas = h("canvas", { width: 160, height: 144, role: "img", "aria-label": "The game's screen" });
    this.marks = h("svg.marks", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.text = h("pre.hidden");
    this.veil = h("div.veil");
    this.stamp = h("div.stamp.num");
    this.bezel = h("div.bezel", null, h("div.glass", null, this.canvas, this.marks), this.text, this.stamp, this.veil);
    this.largest = largest;
    this.share = 1; // of the room: two screens stand side by side
    this.pen = this.canvas.getContext("2d");
    new ResizeObserver(() => this.fit()).observe(document.getElementById("main"));
  }

  fit() {
    const main = document.getElementById("main"), shell = this.bezel.closest(".handheld");
    if (!shell) return;
    const room = main.clientWidth - sides(main), small = innerWidth <= 640, beside = innerWidth > 1060;
    const frame = sides(shell) + sides(this.bezel);
    const across = this.share < 1 ? (small ? room - frame : (room - sides(shell) - 16) * this.share - sides(this.bezel)) : Math.min(room - frame, beside ? room * 0.46 : Infinity);
    const wide = Math.min(across, innerHeight * 0.8);
    const fits = wide / this.canvas.width, whole = Math.floor(fits * devicePixelRatio) / devicePixelRatio; // pixels of the game are whole pixels of the screen
    const scale = this.canvas.width > 320 ? Math.min(1, fits) : whole >= 1.5 ? Math.min(this.largest, whole) : fits;
    this.canvas.style.width = `${Math.floor(this.canvas.width * scale)}px`;
    this.canvas.style.height = `${Math.floor(this.canvas.height * scale)}px`;
  }

  show({ image, text, words = false }, tick) {
    this.canvas.parentElement.classList.toggle("hidden", !image);
    this.text.classList.toggle("hidden", Boolean(image));
    this.text.classList.toggle("words", words);
    this.canvas.dataset.tick = tick;
    this.stamp.textContent = `tick ${number(tick)}`;
    this.frame([]);
    if (!image) { fill(this.text, text.replace(/\x1b\[[0-9;]*m/g, "")); return; }
    [this.canvas.width, this.canvas.height] = [image.width, image.height];
    this.fit();
    this.pen.drawImage(image, 0, 0);
    image.close?.();
  }

  async showEvent(frame) {
    if (frame.format === "text") { this.show({ text: frame.data }, frame.tick); return; }
    const bytes = Uint8Array.from(atob(frame.data), (letter) => letter.charCodeAt(0));
    this.show({ image: await createImageBitmap(new Blob([bytes], { type: "image/png" })) }, frame.tick);
  }

  // Put frames around regions and fade the rest; none of either without regions.
  frame(regions) {
    const { width, height } = this.canvas;
    this.marks.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const holes = regions.map(([left, top, right, bottom]) => `M${left} ${top}H${right}V${bottom}H${left}Z`).join("");
    fill(this.marks, regions.length ? h("path", { d: `M0 0H${width}V${height}H0Z${holes}` }) : null,
      regions.map(([left, top, right, bottom]) => h("rect", { x: left, y: top, width: right - left, height: bottom - top })));
  }

  // Put words over the picture; with *clear* at its edge, so that it can be seen.
  cover(words, clear = false) {
    this.veil.textContent = words || "";
    this.veil.classList.toggle("shown", Boolean(words));
    this.veil.classList.toggle("clear", clear);
  }
}
