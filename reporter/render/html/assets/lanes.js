// Drawings of sessions and requests: zoom, colors by an attribute, and the figures of a request.
(() => {
  const { digits, element, ready, span, ticks } = window.page;
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 20;
  const CLICK = 6;
  const SHORTEST = 1 / 900;
  const CLOSEST = 1 / 2000;
  const TICKS = 6;
  const EDGE = 0.04;
  const time = (label, ms) => (ms === null ? "" : `${label} ${ms < 1000 ? `${digits(ms, 3)} ms` : span(ms / 1000)}`);
  const count = (value, label) => (value === null ? "" : `${value.toLocaleString("en-US")} ${label}`);
  const svg = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    return made;
  };
  const parsed = (text, prefix) => {
    const parts = text.split(",");
    const [row, number, sent, queue, ttft, decode, join, delay, input, cached, output, failed] = parts.slice(0, 12).map((value) => (value === "" ? null : Number(value)));
    const end = sent + (ttft ?? 0) + decode;
    return { row, number, sent, queue, ttft, decode, join, delay, input, cached, output, failed, end, id: prefix + decodeURIComponent(parts[12]), colors: parts.slice(13).map(Number) };
  };
  // The parts of a request that the script draws where the page has no lines.
  const PARTS = {
    wait: (turn) => [turn.sent - turn.queue, turn.sent],
    prefill: (turn) => (turn.failed ? null : [turn.sent, turn.ttft === null ? turn.end : turn.sent + turn.ttft]),
    decode: (turn) => (turn.failed || turn.ttft === null ? null : [turn.sent + turn.ttft, turn.end]),
    failed: (turn) => (turn.failed ? [turn.sent, turn.end] : null),
  };

  class Lanes {
    constructor(drawing, turns) {
      const { from, ms, colors, prefix } = drawing.dataset;
      this.drawing = drawing;
      this.from = Number(from);
      this.ms = Number(ms);
      this.colors = JSON.parse(colors);
      this.turns = turns.split(";").map((turn) => parsed(turn, prefix));
      [, , this.width, this.height] = drawing.getAttribute("viewBox").split(" ").map(Number);
      this.isDrawn = drawing.querySelectorAll("path").length > 1;
      this.view = [0, this.width];
      this.color = -1;
      this.shown = -1;
      this.body = drawing.closest(".body");
      this.names = [...this.body.querySelectorAll(".names li")].map((name) => name.textContent.replace("└", "").trim());
      this.output = this.body.querySelector("output");
      this.pick = svg("rect", { class: "pick", visibility: "hidden" });
      this.range = svg("rect", { class: "range", visibility: "hidden", y: 0, height: this.height });
      this.own = svg("g", {});
      drawing.append(this.own, this.range, this.pick);
      this.listen();
      this.zoom(...this.view);
    }

    place(ms) {
      return ((ms - this.from) / this.ms) * this.width;
    }

    // Where the pointer is, in units of the drawing.
    at(event) {
      const box = this.drawing.getBoundingClientRect();
      const [left, right] = this.view;
      const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      return { x: left + share * (right - left), row: Math.floor(((event.clientY - box.top) / box.height) * (this.height / ROW)) };
    }

    path(name, turns, part) {
      const least = (this.view[1] - this.view[0]) * SHORTEST;
      const lines = turns.flatMap((turn) => {
        const ends = part(turn);
        if (!ends || (name === "wait" && ends[1] - ends[0] <= 0)) return [];
        const begin = this.place(ends[0]);
        const width = Math.max(this.place(ends[1]) - begin, name === "wait" ? 0 : least);
        return [`M${begin.toFixed(2)} ${turn.row * ROW + ROW / 2}h${width.toFixed(2)}`];
      });
      return svg("path", { class: name, d: lines.join("") });
    }

    draw() {
      const hasColors = this.color >= 0;
      this.drawing.classList.toggle("by-value", hasColors);
      const parts = this.isDrawn || hasColors ? [] : Object.entries(PARTS).map(([name, part]) => this.path(name, this.turns, part));
      const values = hasColors ? this.colors[this.color][1] : [];
      const whole = (turn) => [turn.sent, turn.end];
      const colored = values.map((_, index) => this.path(`v${index + 1}`, this.turns.filter((turn) => turn.colors[this.color] === index), whole));
      if (hasColors && !this.isDrawn) colored.unshift(this.path("wait", this.turns, PARTS.wait));
      this.own.replaceChildren(...parts, ...colored);
    }

    legend() {
      const values = this.color < 0 ? [] : this.colors[this.color][1];
      this.body.querySelector(".values").replaceChildren(...values.flatMap((value, index) => {
        const entry = element("span");
        const key = svg("svg", { class: "lanes", viewBox: "0 0 20 20", "aria-hidden": "true" });
        key.append(svg("path", { class: `v${index + 1}`, d: "M1 10h18" }));
        entry.append(key, element("bdi", value === "" ? "none" : value));
        return [entry, " "];
      }));
    }

    zoom(from, to) {
      const width = Math.min(Math.max(to - from, this.width * CLOSEST), this.width);
      const left = Math.min(Math.max(from, 0), this.width - width);
      this.view = [left, left + width];
      this.drawing.setAttribute("viewBox", `${left} 0 ${width} ${this.height}`);
      const [least, most] = this.view.map((x) => (this.from + (this.ms * x) / this.width) / 1000);
      const moments = ticks(least, most, TICKS).map(([moment, label]) => [this.place(1000 * moment), label]);
      this.drawing.querySelector(".grid").setAttribute("d", moments.map(([x]) => `M${x} 0v${this.height}`).join(""));
      this.body.querySelector(".axis").replaceChildren(...moments.map(([x, label]) => {
        const tick = element("span", label);
        const share = (x - left) / width;
        tick.style.left = `${100 * share}%`;
        tick.style.translate = share < EDGE ? "0" : share > 1 - EDGE ? "-100%" : "-50%";
        return tick;
      }));
      this.draw();
    }

    // By a factor, around a place, or around the middle.
    scale(factor, around = (this.view[0] + this.view[1]) / 2) {
      const [left, right] = this.view;
      this.zoom(around - (around - left) * factor, around + (right - around) * factor);
    }

    show(index, isChosen = false) {
      this.shown = index;
      const turn = this.turns[index];
      const [x, end] = [this.place(turn.sent), this.place(turn.end)];
      const [left, right] = this.view;
      if (end < left || x > right) this.zoom(x - (right - left) / 2, x + (right - left) / 2);
      const least = (right - left) * SHORTEST;
      for (const [name, value] of Object.entries({ x, y: turn.row * ROW + 2, width: Math.max(end - x, least), height: ROW - 4, visibility: "visible" })) this.pick.setAttribute(name, String(value));
      const who = turn.number === null ? "Request" : `Turn ${turn.number} of ${this.names[turn.row]}`;
      const values = this.colors.map(([name, shown], place) => `${name} ${shown[turn.colors[place]]}`);
      this.output.textContent = [
        `${who} at ${span(turn.sent / 1000)}${turn.failed ? ", failed" : ""}`,
        time("waited for agents", turn.join), time("delay", turn.delay), time("queue", turn.queue), time("TTFT", turn.ttft), time(turn.ttft === null ? "until its end" : "decode", turn.decode),
        count(turn.input, "tokens in"), count(turn.cached, "cached"), count(turn.output, "out"), ...values,
      ].filter(Boolean).join(" · ");
      this.body.querySelector(".lead")?.remove();
      if (isChosen) this.lead(turn);
    }

    // To the request's texts where the page has them, and to the request's own page, or the command that shows the request.
    lead(turn) {
      const row = [...document.querySelectorAll("[data-request]")].find((one) => one.dataset.request === turn.id);
      const lead = element("p", undefined, "note lead");
      if (row) {
        const button = element("button", "Prompt, output and chunks");
        button.type = "button";
        button.addEventListener("click", () => {
          for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
          const summary = row.querySelector("details > summary");
          summary.parentElement.open = true;
          row.scrollIntoView({ block: "start" });
          summary.focus({ preventScroll: true });
        });
        lead.append(button);
      }
      const { requests } = document.querySelector("main").dataset;
      if (requests) {
        const link = element("a", "All about this request");
        link.href = requests + encodeURIComponent(turn.id);
        lead.append(" ", link);
      } else if (!row) lead.append(element("code", `loadgen request RUN '${turn.id.replaceAll("'", "'\\''")}'`));
      this.body.querySelector(".picked").append(lead);
    }

    near(event, isChosen) {
      const { x, row } = this.at(event);
      const away = (turn) => Math.max(this.place(turn.sent - turn.queue) - x, x - this.place(turn.end), 0);
      const there = this.turns.filter((turn) => turn.row === row);
      if (!there.length) return;
      this.show(this.turns.indexOf(there.reduce((best, turn) => (away(turn) < away(best) ? turn : best))), isChosen);
    }

    listen() {
      let down = null;
      this.drawing.addEventListener("pointerdown", (event) => {
        if (event.pointerType !== "mouse" || event.button !== 0) return;
        down = event;
        this.drawing.setPointerCapture(event.pointerId);
        event.preventDefault();
      });
      const isDrag = (event) => down && Math.abs(event.clientX - down.clientX) > CLICK;
      const ends = (event) => [down, event].map((one) => this.at(one).x).sort((one, other) => one - other);
      this.drawing.addEventListener("pointermove", (event) => {
        if (isDrag(event)) {
          const [from, to] = ends(event);
          for (const [name, value] of Object.entries({ x: from, width: to - from, visibility: "visible" })) this.range.setAttribute(name, String(value));
        } else if (!this.body.querySelector(".lead")) this.near(event, false);
      });
      this.drawing.addEventListener("pointerup", (event) => {
        if (isDrag(event)) this.zoom(...ends(event));
        else this.near(event, true);
        this.range.setAttribute("visibility", "hidden");
        down = null;
      });
      this.drawing.addEventListener("pointercancel", () => {
        down = null;
      });
      this.drawing.addEventListener("dblclick", () => this.zoom(0, this.width));
      this.drawing.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.scale(event.deltaY > 0 ? 1.25 : 0.8, this.at(event).x);
      });
      const keys = {
        ArrowRight: () => this.show((this.shown + 1) % this.turns.length),
        ArrowLeft: () => this.show((Math.max(this.shown, 0) + this.turns.length - 1) % this.turns.length),
        Enter: () => this.shown >= 0 && this.show(this.shown, true),
        "+": () => this.scale(0.5, this.middle()), "-": () => this.scale(2, this.middle()), 0: () => this.zoom(0, this.width),
      };
      this.body.querySelector(".scroll").addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        keys[event.key]();
      });
      for (const button of this.body.querySelectorAll("[data-zoom]")) {
        button.addEventListener("click", () => this.scale(Number(button.dataset.zoom), this.middle()));
      }
      const select = this.body.querySelector("[data-color]");
      this.colors.forEach(([name], index) => {
        const entry = element("option", name);
        entry.value = String(index);
        select.append(entry);
      });
      select.parentElement.hidden = !this.colors.length;
      select.addEventListener("change", () => {
        this.color = Number(select.value);
        this.draw();
        this.legend();
      });
    }

    // Zoom goes to the request that is shown.
    middle() {
      if (this.shown < 0) return undefined;
      const place = this.place(this.turns[this.shown].sent);
      return place >= this.view[0] && place <= this.view[1] ? place : undefined;
    }
  }

  ready.then(({ turns }) => document.querySelectorAll("[data-turns]").forEach((drawing, index) => new Lanes(drawing, turns[index])));
})();
