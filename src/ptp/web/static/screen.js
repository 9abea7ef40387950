// The screen of the game, at a whole multiple of its size.
import { fill, h } from "./dom.js";

export class Screen {
  constructor(largest = 4) {
    this.canvas = h("canvas", { width: 160, height: 144, role: "img", "aria-label": "The game's screen" });
    this.text = h("pre.hidden");
    this.veil = h("div.veil");
    this.bezel = h("div.bezel", null, this.canvas, this.text, this.veil);
    this.largest = largest;
    this.pen = this.canvas.getContext("2d");
    this.tick = null;
    new ResizeObserver(() => this.fit()).observe(document.getElementById("main"));
    this.fit();
  }

  fit() {
    const room = Math.min(document.getElementById("main").clientWidth - (innerWidth < 640 ? 48 : 116), innerHeight * 0.8);
    const wide = innerWidth > 1060 ? Math.min(room, document.getElementById("main").clientWidth * 0.44) : room;
    const scale = this.canvas.width > 320 ? Math.min(1, wide / this.canvas.width) : Math.max(1, Math.min(this.largest, Math.floor(wide / this.canvas.width)));
    this.canvas.style.width = `${Math.floor(this.canvas.width * scale)}px`;
    this.canvas.style.height = `${Math.floor(this.canvas.height * scale)}px`;
  }

  show({ image, text, words = false }, tick) {
    this.canvas.classList.toggle("hidden", !image);
    this.text.classList.toggle("hidden", Boolean(image));
    this.text.classList.toggle("words", words);
    this.tick = tick;
    this.canvas.dataset.tick = tick;
    if (!image) { fill(this.text, text.replace(/\x1b\[[0-9;]*m/g, "")); return; }
    if (image.width !== this.canvas.width || image.height !== this.canvas.height) {
      [this.canvas.width, this.canvas.height] = [image.width, image.height];
      this.fit();
    }
    this.pen.drawImage(image, 0, 0);
    image.close?.();
  }

  async showEvent(frame) {
    if (frame.format === "text") { this.show({ text: frame.data }, frame.tick); return; }
    const bytes = Uint8Array.from(atob(frame.data), (letter) => letter.charCodeAt(0));
    this.show({ image: await createImageBitmap(new Blob([bytes], { type: "image/png" })) }, frame.tick);
  }

  cover(words) {
    this.veil.textContent = words || "";
    this.veil.classList.toggle("shown", Boolean(words));
  }
}
