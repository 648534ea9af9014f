// Runs of series on the axes that the reader chooses: makes a plot of the choice, which page.js draws.
"use strict";
(() => {
  const { axes, curves, targets, planes } = JSON.parse(document.getElementById("curves-data").textContent);
  const THROUGHPUT = "output_tps";
  const MARGIN = 1.1;
  const KNEE = 15;
  const control = (kind, axis) => document.querySelector(`[data-${kind}="${axis}"]`);
  const places = ["x", "y"];

  const draw = () => {
    const names = places.map((axis) => control("axis", axis).value);
    const shown = curves.map(({ name, points }) => ({ name, points: points.filter(({ values }) => names.every((axis) => values[axis])) }));
    const all = shown.flatMap(({ points }) => points);
    const [across, up] = names.map((axis) => all.map(({ values }) => values[axis]));
    const isLog = places.map((axis, index) => {
      const box = control("log", axis);
      box.disabled = [across, up][index].some(([value]) => value <= 0);
      return box.checked && !box.disabled;
    });
    // Of an interval that reaches below 0, a logarithmic axis has the part above.
    const end = (values, place, index) => (isLog[index] && values[place] <= 0 ? null : values[place]);
    const series = (name, kind, points, more) => ({
      name, kind, isMark: kind === "points", x: points.map(({ values }) => values[names[0]][0]), y: points.map(({ values }) => values[names[1]][0]),
      labels: points.map(({ label }) => label), links: points.map(({ link }) => link),
      remarks: points.map(({ run, result, warnings }) => [run, result, ...warnings].filter(Boolean).join(", ")), ...more,
    });
    const lines = shown.filter(({ points }) => points.length).map(({ name, points }) =>
      series(name, "line", points, {
        low: points.map(({ values }) => end(values[names[1]], 1, 1)), high: points.map(({ values }) => values[names[1]][2]),
        left: points.map(({ values }) => end(values[names[0]], 1, 0)), right: points.map(({ values }) => values[names[0]][2]),
      }));
    const marks = (name, points) => (points.length ? [series(name, "points", points)] : []);
    const other = names.indexOf(THROUGHPUT) < 0 ? undefined : names[1 - names.indexOf(THROUGHPUT)];
    const { "Pareto front": front = [], knee = [] } = planes[other] ?? {};
    const named = (runs) => runs.map((run) => all.find((point) => point.run === run)).filter(Boolean);
    const most = [across, up].map((values) => MARGIN * Math.max(...values.map(([value, , high]) => high ?? value)));
    const least = [across, up].map((values, index) => (isLog[index] ? Math.min(...values.map(([value]) => value)) / MARGIN : 0));
    const bounds = targets.filter(([axis]) => names.includes(axis));
    const [from, to] = [[...least], [...most]];
    for (const [axis, relation, bound] of bounds) {
      const place = names.indexOf(axis);
      if (relation.startsWith("<")) to[place] = Math.min(to[place], bound);
      else from[place] = Math.max(from[place], bound);
    }
    const region = bounds.length && places.every((_, index) => from[index] < to[index])
      ? [{ name: "SLO region", kind: "band", x: [from[0], to[0]], y: [null, null], low: [from[1], from[1]], high: [to[1], to[1]], edges: [least, most] }] : [];
    const axis = (index) => ({ ...axes[names[index]], scale: isLog[index] ? "log" : "linear" });
    const plot = {
      title: "Curves", isChosen: true, x: axis(0), y: axis(1),
      series: [
        ...lines,
        ...(front.length > 1 ? [{ ...series("Pareto front", "line", named(front)), labels: undefined }] : []),
        ...region,
        ...marks("knee", named(knee)).map((one) => ({ ...one, size: KNEE })),
        ...marks("meets its targets", all.filter(({ result }) => result === "meets its targets")),
        ...marks("missed", all.filter(({ result }) => result === "missed")),
        ...marks("invalid", all.filter(({ is_valid: isValid }) => !isValid)),
      ],
    };
    const dashed = bounds.map(([name, , at, label]) => ({ axis: places[names.indexOf(name)], at, label }));
    document.dispatchEvent(new CustomEvent("plots", { detail: { plots: { curves: plot }, lines: { curves: dashed } } }));
  };
  for (const kind of ["axis", "log"]) {
    for (const axis of places) control(kind, axis).addEventListener("change", draw);
  }
  draw();
})();
