"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const chosen = (name, otherwise) => document.querySelector(`input[name="${name}"]:checked`)?.value ?? otherwise;

  // Digits as Python prints them: a half goes to the even digit, not up, and very small numbers get an exponent.
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const digits = (value, count) => {
    if (value === 0) return "0";
    const size = Math.abs(value), [exact, whole] = size.toExponential(60).split("e");
    const figures = exact.replace(".", "");
    const down = /^50*$/.test(figures.slice(count)) && Number(figures[count - 1]) % 2 === 0;
    const [mantissa, exponent] = down ? [`${figures[0]}.${figures.slice(1, count)}`, whole]
      : size.toExponential(count - 1).split("e");
    const power = Number(exponent), sign = value < 0 ? "-" : "";
    if (power >= -4 && power < count) return sign + bare(Number(`${mantissa}e${power}`).toFixed(count - 1 - power));
    return `${sign}${bare(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  };
  const percent = (value) => {
    const scaled = value * 100, [whole, rest] = scaled.toFixed(60).split(".");
    return /^[02468]50*$/.test(rest) ? `${whole}.${rest[0]}%` : `${scaled.toFixed(1)}%`;
  };
  const ascii = (text) => text.replace(/[^\x20-\x7e\n]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  const variant = () => data.variants[Number(chosen("variant", "0"))];
  const point = (system, i) => {
    const run = variant().runs[system];
    return { threshold: run.threshold[i], typed: run.typed[i], coverage: run.accepted[i] / data.items, accepted: run.accepted[i],
      selective: run.selective[i], generalized: run.generalized[i] };
  };

  // The picture of the chosen variant and kind of risk, and a ring on it.
  const plot = () => all(".plot").find((one) => one.getClientRects().length);
  const spot = (svg, at, kind) => {
    const left = Number(svg.dataset.left), right = Number(svg.dataset.right);
    return [left + at.coverage * (right - left), Number(svg.dataset.floor) - at[kind] * Number(svg.dataset.unit)];
  };
  const ring = (figure, system, at) => {
    const svg = figure.querySelector("svg.curves"), mark = svg.querySelectorAll(".here")[system];
    if (!at) return mark.setAttribute("visibility", "hidden");
    const [x, y] = spot(svg, at, figure.dataset.kind);
    mark.setAttribute("cx", x); mark.setAttribute("cy", y); mark.setAttribute("visibility", "visible");
  };
  const read = (system, at, kind) => {
    const risk = `${kind} risk ${digits(at[kind], 4)}`;
    const who = data.labels.length > 1 ? `${data.labels[system]}: ` : "";
    find("readout").textContent = `${who}threshold ${at.typed}, coverage ${percent(at.coverage)}, ` +
      `${risk}, ${at.accepted} of ${data.items} items accepted`;
  };
  const shown = (system) => find(`show-${data.styles[system]}`)?.checked ?? true;
  const here = { system: 0, place: -1 };
  const visit = (figure, system, place) => {
    here.system = system; here.place = place;
    data.labels.forEach((_, each) => ring(figure, each, each === system ? point(system, place) : null));
    read(system, point(system, place), figure.dataset.kind);
  };
  for (const reader of all(".reader")) {
    const figure = reader.closest(".plot"), svg = reader.querySelector("svg");
    reader.tabIndex = 0;
    reader.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      let best = [Infinity];
      variant().runs.forEach((run, system) => shown(system) && run.accepted.forEach((_, i) => {
        const [px, py] = spot(svg, point(system, i), figure.dataset.kind);
        const far = (px - x) ** 2 + (py - y) ** 2 / 4;
        if (far < best[0]) best = [far, system, i];
      }));
      if (best.length > 1) visit(figure, best[1], best[2]);
    });
    for (const gone of ["pointerleave", "blur"]) reader.addEventListener(gone, () => operate());
    reader.addEventListener("keydown", (event) => {
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!along && !across && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      const systems = variant().runs.map((_, system) => system).filter((system) => shown(system) && variant().runs[system].accepted.length);
      if (!systems.length) return;
      const at = Math.max(systems.indexOf(here.system), 0);
      const system = systems[Math.min(Math.max(at + (across ?? 0), 0), systems.length - 1)];
      const last = variant().runs[system].accepted.length - 1;
      const wanted = event.key === "Home" ? 0 : event.key === "End" ? last : here.place + (along ?? 0);
      visit(figure, system, Math.min(Math.max(wanted, 0), last));
    });
  }

  // The operating point: which operating point each run takes at a stop was decided when the page was made.
  const slide = find("slide"), names = { coverage: "coverage at least", risk: "risk at most", threshold: "threshold" };
  const absent = { coverage: "not reached", risk: "no threshold meets this limit", threshold: "accepts nothing" };
  const operate = () => {
    if (!slide) return;
    const way = chosen("way", "coverage"), stops = variant().stops[way], stop = stops[Number(slide.value)];
    find("slide-name").textContent = names[way];
    if (!stop) return;
    find("asked").textContent = stop[0];
    find("asked-count").textContent = way === "coverage" ? `${stop[3]} of ${data.items}` : "";
    slide.setAttribute("aria-valuetext", `${names[way]} ${stop[0]}`);
    const copied = { variant: variant().name, chosen_by: way, asked: stop[0], systems: [] };
    const figure = plot();
    all("#operating-point tbody tr").forEach((row, system) => {
      const cell = (name) => row.querySelector(`[data-cell="${name}"]`);
      const place = stop[1][system], at = place < 0 ? null : point(system, place);
      cell("threshold").textContent = at ? at.typed : absent[way];
      cell("coverage").textContent = at ? percent(at.coverage) : "–";
      cell("risk").textContent = at ? digits(at.selective, 4) : "–";
      if (cell("interval")) cell("interval").textContent = at ? stop[2][system] || "no interval at this point" : "–";
      cell("accepted").textContent = at ? `${at.accepted} of ${data.items}` : "–";
      cell("per-100").textContent = at ? digits(100 * data.multiplier * at.generalized, 4) : "–";
      copied.systems.push({ system: data.systems[system], operating_point: at && { threshold: at.threshold, coverage: at.coverage,
        selective_risk: at.selective, generalized_risk: at.generalized, accepted: at.accepted, items: data.items } });
      if (figure) ring(figure, system, at);
    });
    find("operating-json").textContent = ascii(JSON.stringify(copied, null, 2));
    const counts = variant().runs.map((run, system) => `${data.labels[system]} ${run.accepted.length} of ${run.all}`);
    find("stops").textContent = `This page carries these operating points: ${counts.join(", ")}. None of them is rounded or moved.`;
  };
  let wanted = null;
  const show = () => {
    const stops = variant().stops[chosen("way", "coverage")];
    const far = stops.map((stop) => Math.abs(stop[3] - wanted));
    slide.max = Math.max(stops.length - 1, 0);
    slide.value = wanted === null ? Math.floor(stops.length / 2) : far.indexOf(Math.min(...far));
    operate();
  };
  const want = () => { wanted = variant().stops[chosen("way", "coverage")][Number(slide.value)]?.[3] ?? null; };
  if (slide) {
    slide.addEventListener("input", () => { want(); operate(); });
    all('input[name="way"]').forEach((one) => one.addEventListener("change", () => { wanted = null; show(); want(); }));
    all('input[name="variant"], input[name="kind"]').forEach((one) => one.addEventListener("change", () => {
      here.place = -1;
      show();
    }));
    wanted = data.variants[0].stops.coverage.find((stop) => stop[0] === "50.0%")?.[3] ?? null;
    show();
    want();
  }

  // A band of practical equivalence around zero.
  const equate = () => {
    const margin = Number(find("equal").value) || 0;
    for (const band of all(".equal")) {
      const { zero, reach, unit } = band.dataset, half = Math.min(margin * unit, 1) * reach;
      band.setAttribute("x", zero - half);
      band.setAttribute("width", 2 * half);
    }
    const table = all(".differences").find((one) => one.getClientRects().length);
    const rows = table ? all("tr[data-low]", table) : [];
    const inside = rows.filter((row) => Number(row.dataset.low) > -margin && Number(row.dataset.high) < margin);
    const said = rows.length ? `${inside.length} of ${rows.length} intervals lie wholly inside ±${margin}` : "no risk here can be compared";
    find("equal-said").textContent = margin ? said : "";
  };
  if (find("equal")) [find("equal"), ...all('input[name="variant"]')].forEach((one) => one.addEventListener("input", equate));
})();
