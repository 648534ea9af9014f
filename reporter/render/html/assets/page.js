// Draws the plots of a page, and filters its requests and samples. Without it, everything is there as tables.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  // The plots of the page are packed, and those of a script arrive as events.
  const data = { plots: {}, parts: [], lines: {}, phases: [] };
  const COLORS = 6;
  const ROOM = 70;
  const ROW = 22;
  const LOW = 16;
  const MANY = 30;
  const LEFT = 56;
  const isError = (series) => /^(errors?|failed|failures?|violations?)\b/i.test(series.name);

  // ---- numbers in words
  const digits = (value, significant) => {
    if (typeof value !== "number") return String(value);
    if (value === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(value)));
    const places = Math.max(0, Math.min(9, significant - 1 - size));
    return value.toLocaleString("en-US", { maximumFractionDigits: places });
  };
  const MINUTES = 120;
  const span = (seconds, most = Math.abs(seconds), significant = 4) => {
    if (most < MINUTES) return `${digits(seconds, significant)} s`;
    const sign = seconds < 0 ? "-" : "";
    const whole = Math.round(Math.abs(seconds));
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    const two = (number) => String(number).padStart(2, "0");
    return hours ? `${sign}${hours}:${two(minutes)}:${two(rest)}` : `${sign}${minutes}:${two(rest)} min`;
  };
  const nines = (share) => -Math.log10(1 - share);
  const share = (place) => 1 - 10 ** -place;
  const percentile = (place) => `p${digits(100 * share(place), place < 1.5 ? 2 : 2 + Math.ceil(place))}`;
  const placed = (axis, value) => (axis.scale === "percentile" && typeof value === "number" ? nines(value) : value);
  const worded = (axis, value) => {
    if (value === null || value === undefined) return "-";
    if (axis.scale === "time") return span(value);
    if (axis.scale === "percentile") return percentile(value);
    const shown = digits(value, 4);
    return axis.unit ? `${shown} ${axis.unit}` : shown;
  };

  // ---- colors: those of the style sheet, as resolved for light, dark or paper
  let isPrinted = false;
  const probe = document.body.appendChild(document.createElement("i"));
  const resolved = new Map();
  const color = (name) => {
    if (!resolved.has(name)) {
      probe.style.color = `var(${name})`;
      resolved.set(name, getComputedStyle(probe).color);
    }
    return resolved.get(name);
  };
  // A series has a color, and a dash or a marker, by its place.
  const DASHES = ["solid", [7, 4], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2]];
  const MARKERS = ["M5,0A5,5,0,1,1,5,10A5,5,0,1,1,5,0Z", "M5,0L10,10H0Z", "M0,0H10V10H0Z", "M5,0L10,5L5,10L0,5Z", "M0,0H10L5,10Z", "M3,0H7V3H10V7H7V10H3V7H0V3H3Z"];
  const TEXT = { fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 11.5 };
  const CROSS = "M1,0L5,4L9,0L10,1L6,5L10,9L9,10L5,6L1,10L0,9L4,5L0,1Z";
  const dashOf = (index) => DASHES[index % COLORS];
  const RESULTS = { "meets its targets": 0, knee: 2, missed: 4, invalid: 5 };
  const markerOf = (series, index) => (isError(series) ? CROSS : MARKERS[RESULTS[series.name] ?? index % COLORS]);
  // Series whose names say whether that is good; the others have the colors of their places.
  const MEANINGS = {
    better: "--good", missed: "--error", "meets its targets": "--good", "SLO region": "--good", worse: "--error", invalid: "--error", wanted: "--c5", run: "--c5",
    "no significant difference": "--c5", "in doubt": "--c4", different: "--c1", "too few runs": "--c5", "too few requests": "--c5", "not tested": "--c5",
    knee: "--c6", "Pareto front": "--c1",
  };
  const colorOf = (series, index) => color(isError(series) ? "--error" : MEANINGS[series.group === undefined ? series.name : ""] || `--c${(index % COLORS) + 1}`);
  const isUndecided = (series) => /^(too few|not tested|in doubt|invalid)\b/.test(series.name);
  const isRows = (plot) => plot.x.scale === "category";

  // ---- one series of a plot as series of the library
  const pairs = (plot, series) =>
    series.x.map((x, index) => [placed(plot.x, x), series.y[index], ...["low", "high", "labels", "left", "right", "links", "remarks"].map((name) => series[name]?.[index] ?? null)]);

  const polygon = (series, tint) => (params, api) => {
    if (params.dataIndexInside !== 0) return undefined;
    const { x: left, y: top, width, height } = params.coordSys;
    // An open side reaches the end of the axis.
    const [[leastX, leastY], [mostX, mostY]] = series.edges ?? [[-Infinity, -Infinity], [Infinity, Infinity]];
    const at = (x, y) => {
      const place = api.coord([x, y]);
      return [x >= mostX ? left + width : x <= leastX ? left : place[0], y >= mostY ? top : y <= leastY ? top + height : place[1]];
    };
    const upper = [];
    const lower = [];
    for (let index = 0; index < params.dataInsideLength; index += 1) {
      const [x, low, high] = [api.value(0, index), api.value(2, index), api.value(3, index)];
      if (Number.isFinite(low) && Number.isFinite(high)) {
        upper.push(at(x, high));
        lower.unshift(at(x, low));
      }
    }
    return { type: "polygon", shape: { points: [...upper, ...lower] }, style: { fill: tint, opacity: 0.22 }, silent: true };
  };
  const bar = (plot, tint) => (params, api) => {
    const floor = api.coord([api.value(2), 0]);
    const [left, right] = [api.coord([api.value(2), api.value(1)]), api.coord([api.value(3), api.value(1)])];
    const frame = params.coordSys;
    const [start, end] = [Math.max(left[0], frame.x), Math.min(right[0], frame.x + frame.width)];
    if (end <= start) return undefined;
    const bottom = Math.min(floor[1], frame.y + frame.height);
    return {
      type: "rect",
      shape: { x: start, y: left[1], width: Math.max(end - start - 0.5, 0.5), height: Math.max(bottom - left[1], 0) },
      style: { fill: tint, opacity: 0.75 },
    };
  };
  const whisker = (plot, tint) => (params, api) => {
    if (!Number.isFinite(api.value(2)) || !Number.isFinite(api.value(3))) return undefined;
    const [low, high] = [2, 3].map((end) => api.coord(isRows(plot) ? [api.value(end), api.value(0)] : [api.value(0), api.value(end)]));
    return { type: "line", shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] }, style: { stroke: tint, lineWidth: 1.5 }, silent: true };
  };

  const whiskerAcross = (tint) => (params, api) => {
    if (!Number.isFinite(api.value(5)) || !Number.isFinite(api.value(6))) return undefined;
    const [left, right] = [5, 6].map((end) => api.coord([api.value(end), api.value(1)]));
    return { type: "line", shape: { x1: left[0], y1: left[1], x2: right[0], y2: right[1] }, style: { stroke: tint, lineWidth: 1.5 }, silent: true };
  };

  // The ends of intervals: without their own tip, and within the axes.
  const ENDS = { type: "custom", silent: true, tooltip: { show: false }, clip: true };
  const encoded = (plot, values) => (isRows(plot) ? { x: values, y: 0 } : { x: 0, y: values });
  const drawn = (plot, series, index) => {
    const tint = colorOf(series, index);
    const points = pairs(plot, series);
    const shared = { name: series.label, data: points, itemStyle: { color: tint }, animation: false, emphasis: { disabled: true } };
    if (series.kind === "bars") {
      return [{ ...shared, type: "custom", renderItem: bar(plot, tint), encode: { x: [2, 3], y: 1, tooltip: 1 }, clip: true }];
    }
    if (series.kind === "points") {
      const many = points.length > 150;
      const isHollow = isUndecided(series) || series.size !== undefined;
      const style = { color: isHollow ? color("--card") : tint, borderColor: tint, borderWidth: isHollow ? 1.5 : 0, opacity: many && !isError(series) ? 0.45 : 0.85 };
      const symbol = `path://${markerOf(series, index)}`;
      const size = isError(series) ? 8 : many ? 4 : series.isMark ? 11 : 7;
      const result = [{ ...shared, type: "scatter", symbol, symbolSize: series.size ?? size, itemStyle: style, encode: encoded(plot, 1), z: many ? 1 : 3 }];
      if (series.low) result.push({ ...shared, ...ENDS, encode: encoded(plot, [1, 2, 3]), renderItem: whisker(plot, tint) });
      return result;
    }
    const line = {
      ...shared, type: "line", step: series.kind === "step" ? "end" : false, connectNulls: false, lineStyle: { color: tint, width: 2, type: dashOf(index) },
      showSymbol: points.length <= 30 && series.kind !== "step", symbol: `path://${markerOf(series, index)}`, symbolSize: 6,
    };
    const ends = series.low && { ...shared, ...ENDS, encode: encoded(plot, [1, 2, 3]), renderItem: whisker(plot, tint) };
    const across = series.left && { ...shared, ...ENDS, encode: { x: [0, 5, 6], y: 1 }, renderItem: whiskerAcross(tint) };
    if (series.kind !== "band") return [line, ends, across].filter(Boolean);
    return [{ ...shared, ...ENDS, encode: encoded(plot, [1, 2, 3]), renderItem: polygon(series, tint) }, line];
  };

  // The names of points, where they cover neither each other nor a point; one that has no room shows at the pointer.
  const PLACES = [[9, -7], [9, 8], [-9, -7], [-9, 8], [9, -20], [9, 21], [-9, -20], [-9, 21], [9, -33], [9, 34], [-9, -33], [-9, 34]];
  const CHARACTER = 6.2;
  const LINE = 12;
  const covers = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const placedNames = (points, texts, frame, covered) => {
    const taken = [...covered, ...points.map(([x, y]) => ({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }))];
    return points.map(([x, y], index) => {
      if (x < frame.x || x > frame.x + frame.width) return undefined;
      const width = CHARACTER * texts[index].length;
      const boxes = PLACES.map(([right, down]) => {
        const left = right > 0 ? x + right : x + right - width;
        return { left, right: left + width, top: y + down - LINE / 2, bottom: y + down + LINE / 2 };
      });
      const box = boxes.find((one) =>
        one.left >= frame.x && one.right <= frame.x + frame.width + 18 && one.bottom <= frame.y + frame.height && one.top >= 0 &&
        !taken.some((other) => covers(one, other)));
      if (box) taken.push(box);
      return box && { ...box, from: [x, y] };
    });
  };
  const names = (plot, hidden) => {
    const named = plot.series.filter((series) => series.labels && !series.isMark && !hidden.has(series.label));
    const points = named.flatMap((series) => pairs(plot, series)).filter(([, y]) => y !== null);
    if (!points.length || isRows(plot)) return [];
    // Without what all of them begin with, which the note says.
    const [first, ...others] = points.map((point) => point[4].split("-"));
    const common = others.length ? first.findIndex((word, index) => others.some((words) => words[index] !== word)) : 0;
    const texts = points.map((point) => point[4].split("-").slice(Math.max(common, 0)).join("-"));
    let boxes = [];
    return [{
      type: "custom", name: "names", data: points, silent: true, tooltip: { show: false }, encode: { x: 0, y: 1 }, z: 4, animation: false,
      renderItem: (params, api) => {
        if (params.dataIndex === 0) {
          // The names of bounds are above the right end of their lines.
          const right = params.coordSys.x + params.coordSys.width;
          const covered = plot.lines.filter((line) => line.axis === "y").map(({ at, label }) => {
            const [, y] = api.coord([0, at]);
            return { left: right - CHARACTER * label.length, right, top: y - 3 - LINE, bottom: y };
          });
          boxes = placedNames(points.map(([x, y]) => api.coord([x, y])), texts, params.coordSys, covered);
        }
        const box = boxes[params.dataIndex];
        if (!box) return undefined;
        const middle = (box.top + box.bottom) / 2;
        const isRight = box.left > box.from[0];
        const text = {
          type: "text", x: isRight ? box.left : box.right, y: middle,
          style: { text: texts[params.dataIndex], ...TEXT, fill: color("--ink"), align: isRight ? "left" : "right", verticalAlign: "middle", stroke: color("--card"), lineWidth: 3 },
        };
        // A name that is not next to its point is joined to it.
        const join = {
          type: "line", shape: { x1: box.from[0], y1: box.from[1], x2: isRight ? box.left - 1 : box.right + 1, y2: middle },
          style: { stroke: color("--dim"), lineWidth: 0.8 },
        };
        return { type: "group", children: Math.abs(middle - box.from[1]) > LINE ? [join, text] : [text] };
      },
    }];
  };

  // A logarithmic axis of less than a decade would have one label.
  const decades = (plot, name) => {
    const values = plot.series.flatMap((series) => [series[name], ...(name === "y" ? [series.low ?? [], series.high ?? []] : [])].flat());
    const positive = values.filter((value) => value > 0);
    return positive.length ? Math.log10(Math.max(...positive) / Math.min(...positive)) : 0;
  };
  // As many digits as tell the ticks of an axis apart, which may be of a narrow range.
  const significant = (plot, name) => {
    const values = plot.series.flatMap((series) => series[name]).filter(Number.isFinite);
    const range = Math.max(...values) - Math.min(...values);
    return name === "x" && range > 0 ? Math.max(4, 2 + Math.ceil(Math.log10(Math.max(...values.map(Math.abs)) / range))) : 4;
  };
  // Plots over time have the same axis, whatever part of it each has points in.
  const timeSpan = () => {
    const moments = Object.values(data.plots).filter((plot) => plot.x.scale === "time").flatMap((plot) => plot.series.flatMap((series) => series.x));
    return [...moments, ...data.phases.flatMap(([, start, end]) => [start, end])].reduce(([least, most], x) => [Math.min(least, x), Math.max(most, x)], [Infinity, -Infinity]);
  };
  // The distance of ticks at round times: 1, 2 or 5 times a power of ten; from two minutes on a part of an hour, or hours.
  const ROUND = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
  const step = (seconds, count) => {
    const isEnough = (one) => one * count >= seconds;
    if (seconds >= MINUTES) return ROUND.find(isEnough) ?? 3600 * Math.ceil(seconds / 3600 / count);
    const power = 10 ** Math.floor(Math.log10(seconds / count));
    return [power, 2 * power, 5 * power].find(isEnough) ?? 10 * power;
  };
  const steps = (seconds, count) => ({ minInterval: step(seconds, count), maxInterval: step(seconds, count) });
  // The moments and labels of ticks, with as many digits as tell them apart.
  const ticks = (least, most, count) => {
    const by = step(most - least, count);
    const first = Math.ceil(least / by);
    const significant = Math.max(4, 1 + Math.floor(Math.log10(most / by)));
    return Array.from({ length: Math.floor(most / by) - first + 1 }, (_, index) => (first + index) * by)
      .map((moment) => [moment, span(moment, by < 1 ? 0 : most, significant)]);
  };
  const canBeLog = (plot) => plot.y.unit === "ms" && (["time", "percentile"].includes(plot.x.scale) || plot.series.some((series) => series.labels)) && decades(plot, "y") >= 1;
  const axis = (plot, name, isAcross, isNarrow) => {
    const described = plot[name];
    const isLog = plot.isChosen ? described.scale === "log" : name === "y" && plot.isLog && canBeLog(plot);
    const type = described.scale === "category" ? "category" : isLog ? "log" : "value";
    const label = {
      color: color("--dim"), hideOverlap: true, ...TEXT,
      formatter: (value) =>
        described.scale === "time" ? span(value, timeSpan()[1]) : described.scale === "percentile" ? percentile(value) : digits(value, significant(plot, name)),
    };
    const unit = described.scale === "time" ? "" : described.unit;
    // What follows a colon explains the quantity, and has no room on a phone.
    const called = isNarrow ? described.label.split(":")[0] : described.label;
    // An axis of time needs no name: its labels have units, and the window starts at 0.
    const isNamed = described.scale !== "time";
    const place = isAcross ? { nameLocation: "middle", nameGap: 26 } : { nameLocation: "end", nameGap: 11 };
    const result = {
      type, name: !isNamed ? "" : unit ? `${called} [${unit}]` : called, ...place,
      nameTextStyle: { color: color("--dim"), ...(!isAcross && { align: "left", padding: [0, 0, 0, -LEFT] }) }, axisLabel: label, axisLine: { onZero: false, lineStyle: { color: color("--line") } },
      axisTick: { lineStyle: { color: color("--line") } }, splitLine: { lineStyle: { color: color("--grid") } },
      minorSplitLine: { show: false }, splitNumber: isAcross ? (isNarrow ? 4 : 6) : 5,
      scale: type !== "category" && (isLog || (name === "x" && !plot.series.some((series) => series.labels))),
    };
    if (described.scale === "time") {
      const [min, max] = timeSpan();
      Object.assign(result, { min, max, ...steps(max - min, result.splitNumber) });
      Object.assign(label, { showMinLabel: min === 0, showMaxLabel: max % result.maxInterval === 0 });
    }
    // Where the plot is cut is no round number.
    if (name === "x" && isCut(plot)) label.showMaxLabel = false;
    if (described.scale === "percentile") {
      // Ticks at p90, p99, p99.9: one each is a tenth of what is left.
      Object.assign(result, { min: 0, interval: 1, minInterval: 1, maxInterval: 1 });
    }
    if (type === "category") {
      const rows = [...new Set(plot.series.flatMap((series) => series.x))];
      // From top to bottom, with a line for each name; the plot's heading says what they are.
      Object.assign(result, { data: rows, inverse: true, name: undefined, axisTick: { show: false }, splitLine: { show: false } });
      Object.assign(label, { interval: 0, hideOverlap: false, width: isNarrow ? 130 : 200, overflow: "truncate", formatter: undefined });
    }
    return result;
  };

  // ---- the text at the pointer, made of text nodes: nothing in it is read as HTML
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const tip = (plot) => (hits) => {
    const list = (Array.isArray(hits) ? hits : [hits]).filter((hit) => hit.value && hit.value[1] !== null);
    if (!list.length) return "";
    const box = element("div", undefined, "tip");
    const first = list[0].value;
    const isBar = list.length && plot.series.some((series) => series.kind === "bars" && series.label === list[0].seriesName);
    const where = isBar ? `${digits(first[2], 4)} to ${worded(plot.x, first[3])}` : worded(plot.x, first[0]);
    box.append(element("b", plot.x.scale === "percentile" ? where : `${plot.x.label}: ${where}`));
    const table = element("table");
    const seen = new Set();
    for (const hit of list) {
      if (seen.has(hit.seriesName)) continue;
      seen.add(hit.seriesName);
      const row = element("tr");
      const [, y, low, high, label] = hit.value;
      const ends = !isBar && low !== null && high !== null ? ` (${digits(low, 4)} to ${digits(high, 4)})` : "";
      row.append(element("td", label ? `${label} (${hit.seriesName})` : hit.seriesName), element("td", worded(plot.y, y) + ends));
      table.append(row);
    }
    box.append(table);
    if (first[8]) box.append(element("span", first[8]));
    return box;
  };

  // A line where nothing differs, or nothing is right.
  const zero = () => ({
    type: "custom", data: [[0]], silent: true, tooltip: { show: false }, encode: { x: 0 }, z: 0,
    renderItem: ({ coordSys }, api) => {
      const [x] = api.coord([0, 0]);
      return { type: "line", shape: { x1: x, y1: coordSys.y, x2: x, y2: coordSys.y + coordSys.height }, style: { stroke: color("--dim"), lineWidth: 1 } };
    },
  });

  // Warm-up and drain are shaded: the window is what figures are of.
  const shaded = () => ({
    type: "custom", data: data.phases, silent: true, tooltip: { show: false }, encode: { x: [1, 2] }, z: 0, clip: true,
    renderItem: ({ coordSys, dataIndex }, api) => {
      const name = data.phases[dataIndex][0];
      const [[start], [end]] = [1, 2].map((place) => api.coord([api.value(place), 0]));
      const [left, right] = [Math.max(start, coordSys.x), Math.min(end, coordSys.x + coordSys.width)];
      if (right <= left) return undefined;
      const text = {
        type: "text", x: (left + right) / 2, y: coordSys.y + 5,
        style: { text: CHARACTER * name.length < right - left ? name : "", ...TEXT, fill: color("--dim"), align: "center", verticalAlign: "top" },
      };
      const area = {
        type: "rect", shape: { x: left, y: coordSys.y, width: right - left, height: coordSys.height },
        style: { fill: color("--dim"), opacity: name === "window" ? 0 : 0.14 },
      };
      return { type: "group", children: [area, text] };
    },
  });
  // The bounds of rules, dashed. One that is far from all points is named at the end of the axis, and leaves it as it is.
  const FAR = 3;
  const bounds = (plot) => {
    const most = Math.max(...plot.series.flatMap((series) => series.y).filter(Number.isFinite));
    return plot.lines.map(({ axis: name, at, label }, index) => {
      const isAcross = name === "y";
      const isFar = !isAcross || at > FAR * most;
      return {
        type: "custom", data: [[isFar ? null : 1.1 * at]], silent: true, tooltip: { show: false }, encode: { y: 0 }, z: 2,
        renderItem: ({ coordSys: { x: left, y: top, width, height } }, api) => {
          const place = api.coord(isAcross ? [0, at] : [at, 0])[isAcross ? 1 : 0];
          const isOutside = isAcross ? place < top : place > left + width || place < left;
          const shape = isAcross ? { x1: left, y1: place, x2: left + width, y2: place } : { x1: place, y1: top, x2: place, y2: top + height };
          const isRight = isOutside || isAcross || place > left + width / 2;
          const isAbove = isAcross && !isOutside && place - top > 16;
          const text = {
            type: "text",
            x: isOutside || isAcross ? left + width - 4 : place + (isRight ? -4 : 4),
            y: isAbove ? place - 3 : (isAcross && !isOutside ? place : top + 14 * (1 + index)) + 4,
            style: {
              verticalAlign: isAbove ? "bottom" : "top", text: isOutside ? `${label} ${isAcross ? "↑" : "→"}` : label, ...TEXT, fill: color("--ink"), align: isRight ? "right" : "left",
              stroke: color("--card"), lineWidth: 3,
            },
          };
          const line = { type: "line", shape, style: { stroke: color("--ink"), lineWidth: 1, lineDash: [3, 3] } };
          return { type: "group", children: isOutside ? [text] : [line, text] };
        },
      };
    });
  };

  const places = (plot) => plot.series.flatMap((series) => series.x);
  const isCut = (plot) => plot.upTo < Math.max(...places(plot));
  const option = (plot, hidden, isNarrow) => {
    const shown = plot.series.map((series, index) => (hidden.has(series.label) ? [] : drawn(plot, series, index))).flat();
    if (isRows(plot)) shown.push(zero());
    if (plot.x.scale === "time" && data.phases.length) shown.push(shaded());
    shown.push(...bounds(plot));
    shown.push(...names(plot, hidden));
    const isScatter = plot.isChosen || plot.series.every((series) => series.kind === "points" || series.kind === "bars");
    return {
      animation: false, backgroundColor: "transparent", textStyle: TEXT,
      grid: isRows(plot) ? { left: 8, right: 18, top: 8, bottom: 30, containLabel: true } : { left: LEFT, right: 18, top: 28, bottom: plot.x.scale === "time" ? 26 : 46 },
      tooltip: {
        trigger: isScatter ? "item" : "axis", confine: true, renderMode: "html", formatter: tip(plot), backgroundColor: color("--card"),
        borderColor: color("--line"), textStyle: { color: color("--ink") }, transitionDuration: 0, axisPointer: { type: "line", animation: false },
      },
      xAxis: axis(plot, isRows(plot) ? "y" : "x", true, isNarrow), yAxis: axis(plot, isRows(plot) ? "x" : "y", false, isNarrow),
      dataZoom: [{ ...(isCut(plot) && { startValue: Math.min(...places(plot)), endValue: plot.upTo }), type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: false, moveOnMouseWheel: false }],
      series: shown,
    };
  };

  // ---- which plot is shown for a filter: of all requests, of each value of a tag, or of one value
  const labeled = (plot) => ({
    ...plot,
    series: plot.series.map((series) => ({
      ...series, label: series.group === undefined ? series.name : plot.names > 1 ? `${series.name}, ${series.group}` : series.group,
    })),
  });
  const chosen = (name, filter) => {
    const part = filter && data.parts[filter.tag].plots[name];
    if (!part) return labeled({ ...data.plots[name], names: 1 });
    const series = filter.value === undefined ? part.series : part.series.filter((one) => one.group === filter.value);
    return labeled({ ...part, series, names: new Set(series.map((one) => one.name)).size });
  };

  const SVG = "http://www.w3.org/2000/svg";
  const swatch = (series, index) => {
    const tint = colorOf(series, index);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 26 12");
    svg.setAttribute("aria-hidden", "true");
    const add = (tag, attributes) => {
      const shape = svg.appendChild(document.createElementNS(SVG, tag));
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    };
    const isArea = series.kind === "band" && series.y.every((y) => y === null);
    if (series.kind === "bars" || isArea) add("rect", { x: 6, y: 1, width: 14, height: 10, fill: tint, opacity: isArea ? 0.4 : 0.75 });
    else if (series.kind === "points") add("path", { d: markerOf(series, index), transform: "translate(8 1)", fill: isUndecided(series) ? "none" : tint, stroke: tint });
    else add("path", { d: "M0,6H26", stroke: tint, "stroke-width": 2.5, "stroke-dasharray": index % COLORS ? dashOf(index).join() : "none" });
    return svg;
  };

  class Figure {
    constructor(canvas) {
      this.canvas = canvas;
      this.name = canvas.dataset.plot;
      this.variant = canvas.closest("[data-variant]");
      this.frame = canvas.closest("[data-group]");
      this.hidden = new Set();
      this.filter = null;
      this.chart = null;
      this.variant.querySelector(".reset").addEventListener("click", () => this.zoom(0, 100));
      this.log = this.variant.querySelector(".log");
      this.cut = this.variant.querySelector(".cut");
      this.cut.addEventListener("click", () => (this.cut.getAttribute("aria-pressed") === "true" ? this.zoom(0, 100) : this.draw()));
      this.log.addEventListener("click", () => {
        this.isLog = !this.isLog;
        this.draw();
      });
    }

    draw() {
      if (!globalThis.charts?.init || !this.canvas.checkVisibility() || !data.plots[this.name]) return;
      this.plot = chosen(this.name, this.filter);
      this.plot.lines = data.lines[this.name] ?? [];
      this.isLog ??= this.plot.y.scale === "log";
      this.plot.isLog = this.isLog;
      this.log.hidden = this.plot.isChosen || !canBeLog(this.plot);
      this.log.setAttribute("aria-pressed", String(this.isLog));
      if (isRows(this.plot)) {
        const rows = new Set(this.plot.series.flatMap((series) => series.x)).size;
        this.canvas.style.height = `${ROOM + (rows > MANY ? LOW : ROW) * rows}px`;
        this.frame.classList.add("wide");
      }
      if (!this.chart) {
        this.chart = charts.init(this.canvas, null, { renderer: "svg" });
        this.listen();
      }
      this.chart.setOption(option(this.plot, this.hidden, isPrinted || this.canvas.clientWidth < 420), { notMerge: true });
      this.cut.hidden = !isCut(this.plot);
      this.cut.setAttribute("aria-pressed", "true");
      this.frame.classList.remove("zoomed");
      this.legend();
    }

    // A drag across the plot zooms; so do two fingers, and the wheel with Ctrl.
    listen() {
      const pointer = this.chart.getZr();
      let from = null;
      pointer.on("mousedown", (event) => {
        from = event.event.zrByTouch || !this.chart.containPixel("grid", [event.offsetX, event.offsetY]) ? null : event.offsetX;
      });
      pointer.on("mouseup", (event) => {
        if (from !== null && Math.abs(event.offsetX - from) > 8) {
          const [start, end] = [from, event.offsetX].sort((one, other) => one - other).map((x) => this.chart.convertFromPixel({ xAxisIndex: 0 }, x));
          this.chart.dispatchAction({ type: "dataZoom", startValue: start, endValue: end });
        }
        from = null;
      });
      pointer.on("dblclick", () => this.zoom(0, 100));
      this.canvas.addEventListener("keydown", (event) => {
        const { start, end } = this.chart.getOption().dataZoom[0];
        const [middle, half] = [(start + end) / 2, (end - start) / 2];
        const around = (at, reach) => this.zoom(Math.max(at - reach, 0), Math.min(at + reach, 100));
        const move = (by) => around(Math.min(Math.max(middle + by, half), 100 - half), half);
        const keys = { "+": () => around(middle, half / 2), "-": () => around(middle, 2 * half), 0: () => this.zoom(0, 100), ArrowLeft: () => move(-half), ArrowRight: () => move(half) };
        if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        keys[event.key]();
      });
      this.chart.on("click", ({ value }) => {
        if (value?.[7]) location.assign(value[7]);
      });
      this.chart.on("datazoom", () => {
        const { start, end } = this.chart.getOption().dataZoom[0];
        this.frame.classList.toggle("zoomed", start > 0.01 || end < 99.99);
        this.cut.setAttribute("aria-pressed", "false");
        if (this.plot.x.scale !== "time") return;
        const [min, max] = timeSpan();
        this.chart.setOption({ xAxis: steps(((max - min) * (end - start)) / 100, this.chart.getOption().xAxis[0].splitNumber) });
        if (!this.isFollowing) follow(this, start, end);
      });
    }

    zoom(start, end) {
      this.chart?.dispatchAction({ type: "dataZoom", start, end });
    }

    legend() {
      const list = this.variant.querySelector(".legend");
      const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
      list.replaceChildren();
      const names = new Set();
      this.plot.series.forEach((series, index) => {
        if (names.has(series.label)) return;
        names.add(series.label);
        const button = element("button");
        button.type = "button";
        button.setAttribute("aria-pressed", String(!this.hidden.has(series.label)));
        button.append(swatch(series, index), element("bdi", series.label));
        button.addEventListener("click", () => {
          if (!this.hidden.delete(series.label)) this.hidden.add(series.label);
          this.draw();
        });
        const item = element("li");
        item.append(button);
        list.append(item);
      });
      list.hidden = names.size < 2 && !this.filter;
      list.querySelectorAll("button")[focused]?.focus();
    }
  }

  const figures = [...document.querySelectorAll("[data-plot]")].map((canvas) => new Figure(canvas));
  const drawAll = () => figures.forEach((figure) => figure.draw());
  // The first plot shows while the others are drawn.
  const drawInTurn = ([figure, ...others]) => {
    figure?.draw();
    if (others.length) setTimeout(drawInTurn, 0, others);
  };
  // Plots over time show the same span.
  const follow = (source, start, end) => {
    for (const figure of figures) {
      if (figure === source || !figure.chart || figure.plot.x.scale !== "time") continue;
      figure.isFollowing = true;
      figure.zoom(start, end);
      figure.isFollowing = false;
    }
  };

  for (const fold of document.querySelectorAll("details.fold")) {
    fold.addEventListener("toggle", () => figures.forEach((figure) => fold.contains(figure.canvas) && !figure.chart && figure.draw()));
  }

  // Escape closes what is open around the focus; what a request shows stands below its row.
  document.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape" || target.matches("input")) return;
    const around = target.closest("details[open], [data-request]:has(.row details[open])");
    if (!around) return;
    const open = around.matches("details") ? around : around.querySelector(".row details");
    open.open = false;
    open.querySelector("summary").focus();
  });

  for (const frame of document.querySelectorAll("[data-group]")) {
    frame.addEventListener("click", (event) => {
      const button = event.target.closest("[data-choose]");
      if (!button) return;
      for (const other of frame.querySelectorAll("[data-choose]")) other.setAttribute("aria-pressed", String(other === button));
      for (const variant of frame.querySelectorAll("[data-variant]")) {
        variant.dataset.shown = variant.dataset.variant === button.dataset.choose ? "yes" : "no";
      }
      frame.classList.remove("zoomed");
      figures.filter((figure) => figure.frame === frame).forEach((figure) => { figure.draw(); figure.chart?.resize(); });
    });
  }

  const offerFilters = () => document.querySelectorAll("[data-filter]").forEach((select, _, selects) => {
    const filters = [null];
    data.parts.forEach(({ tag, plots }, index) => {
      const values = [...new Set(Object.values(plots).flatMap((plot) => plot.series.map((series) => series.group)))];
      const group = element("optgroup");
      group.label = tag;
      const add = (label, filter) => {
        const entry = element("option", label);
        entry.value = String(filters.push(filter) - 1);
        group.append(entry);
      };
      add(`each ${tag}`, { tag: index });
      values.forEach((value) => add(`${tag} = ${value}`, { tag: index, value }));
      select.append(group);
    });
    select.addEventListener("change", () => {
      for (const other of selects) other.value = select.value;
      for (const figure of figures) {
        figure.filter = filters[Number(select.value)];
        figure.hidden.clear();
        figure.draw();
      }
    });
  });

  for (const controls of document.querySelectorAll("[data-browse]")) {
    const samples = [...controls.parentElement.querySelectorAll(".sample")];
    const inputs = [...controls.querySelectorAll("[data-by]")];
    const output = controls.querySelector("output");
    const browse = () => {
      let count = 0;
      for (const sample of samples) {
        const fits = inputs.every(({ dataset, value }) =>
          !value || (dataset.by === "text" ? sample.textContent.toLowerCase().includes(value.toLowerCase()) : sample.dataset[dataset.by] === value));
        sample.hidden = !fits;
        count += fits;
      }
      output.textContent = `${count} of ${samples.length} shown`;
    };
    inputs.forEach((input) => input.addEventListener("input", browse));
    browse();
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const said = button.parentElement.querySelector("output");
      try {
        await navigator.clipboard.writeText(source.textContent);
        said.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(source);
        said.textContent = "selected: copy with Ctrl+C";
      }
    });
  }

  // Further points: of a run in progress, or for other axes. A plot that is zoomed stays as it is.
  document.addEventListener("plots", ({ detail }) => {
    for (const of of ["plots", "lines"]) Object.assign(data[of], detail[of]);
    for (const figure of figures) {
      figure.frame.hidden = !data.plots[figure.name];
      if (data.plots[figure.name]?.isChosen || !figure.frame.classList.contains("zoomed")) figure.draw();
    }
  });

  let widths = "";
  addEventListener("resize", () => {
    const now = String(innerWidth);
    if (now === widths) return;
    widths = now;
    figures.forEach((figure) => figure.chart?.resize());
  });
  const recolor = (scheme) => {
    root.style.colorScheme = scheme;
    resolved.clear();
    drawAll();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => recolor(""));
  // The page is laid out for the screen when it is asked to print: plots get the sizes that they have on paper.
  const PAPER = { width: 300, height: 230 };
  let folds = [];
  addEventListener("beforeprint", () => {
    isPrinted = true;
    folds = [...document.querySelectorAll("details.fold:not([open]), details.rows:not([open])")];
    for (const fold of folds) fold.open = true;
    recolor("light");
    figures.forEach((figure) => figure.chart?.resize(isRows(figure.plot) ? { width: 2 * PAPER.width } : PAPER));
  });
  addEventListener("afterprint", () => {
    isPrinted = false;
    for (const fold of folds) fold.open = false;
    recolor("");
    figures.forEach((figure) => figure.chart?.resize({ width: "auto", height: "auto" }));
  });

  // ---- the library and the plots, packed; the page's policy has the hash of the library's text
  const unpacked = (id) => {
    const packed = document.getElementById(id);
    if (!packed) return undefined;
    const bytes = Uint8Array.from(atob(packed.textContent), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const ready = Promise.all(["plot-data", "charts"].map(unpacked)).then(([plots, library]) => {
    const { plots: drawn, lines, ...others } = JSON.parse(plots ?? "{}");
    Object.assign(data, others);
    Object.assign(data.plots, drawn);
    Object.assign(data.lines, lines);
    offerFilters();
    if (library) document.head.append(element("script", library));
    drawInTurn(figures);
    return data;
  });
  // What the scripts of further sections use.
  window.page = { digits, element, ready, span, ticks };
})();
