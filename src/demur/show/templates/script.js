"use strict";
(async () => {
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
  const unit = data.percent ? "%" : "";
  const risk = (value) => digits(data.percent ? 100 * value : value, 3) + unit;
  const ascii = (text) => text.replace(/[^\x20-\x7e\n]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  // The packed operating points: counts and sums as increments, thresholds as text.
  const summed = (steps) => { let total = 0; return steps.map((step) => (total += step)); };
  const listed = (text) => (text ? text.split(" ") : []);
  const unpacked = (run) => {
    const count = summed(run.count), sum = run.sum && summed(run.sum), typed = listed(run.typed).map((text) => text.split("="));
    return { all: run.all, count, sum, risk: run.risk ?? sum.map((loss, i) => loss / (count[i] * data.multiplier)),
      typed: typed.map(([text]) => text), threshold: typed.map((parts) => Number(parts.at(-1))), low: listed(run.low), high: listed(run.high) };
  };
  const bytes = Uint8Array.from(atob(data.points), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const curves = (await new Response(stream).json()).map((runs) => runs.map(unpacked));
  const number = () => Number(chosen("variant", "0"));
  const runs = () => curves[number()];
  const sign = () => (data.variants[number()].lower ? -1 : 1);

  // A typed target, exactly: 10 %, 0.1 and 10 are the same share; a loss that is not a share is not scaled.
  const exact = (text, way) => {
    const share = way === "coverage" || (way === "risk" && data.shares);
    const match = /^([+-]?)(\d*)(?:[.,](\d*))?(?:e([+-]?\d{1,3}))?\s*(%?)$/i.exec(text.trim());
    if (!match || !(match[2] || match[3])) return null;
    const [, minus, whole = "", rest = "", power = "0", mark] = match;
    const places = rest.length - Number(power), value = Number(`${minus}${whole || "0"}.${rest || "0"}e${power}`);
    if (way !== "threshold" && minus === "-") return null;
    if (way === "risk" && mark && !data.takes_percent) return null;
    const hundredth = mark || (share && value > 1) ? 2 : 0;
    const top = BigInt(minus + (whole + rest)) * 10n ** BigInt(Math.max(-places, 0));
    return { top, bottom: 10n ** BigInt(Math.max(places, 0) + hundredth), value: hundredth ? Number(`${value}e-2`) : value };
  };
  const last = (count, fits) => { for (let i = count - 1; i >= 0; i--) if (fits(i)) return i; return -1; };
  const within = (run, i, asked) => (run.sum && asked.top !== undefined
    ? BigInt(run.sum[i]) * asked.bottom <= asked.top * BigInt(run.count[i]) * BigInt(data.multiplier) : run.risk[i] <= asked.value);
  // A coverage above the largest one means that one if it rounds to it at the digits typed, and at whole per cent at least.
  const roundsTo = (count, { top, bottom }) => {
    const finer = bottom < 100n ? 100n / bottom : 1n, items = BigInt(data.items);
    return (2n * BigInt(count) * bottom * finer + items) / (2n * items) === top * finer;
  };
  const reaching = (run, asked) => {
    const point = run.count.findIndex((count) => BigInt(count) * asked.bottom >= asked.top * BigInt(data.items));
    return point < 0 && run.count.length && roundsTo(run.count.at(-1), asked) ? run.count.length - 1 : point;
  };
  const pointFor = {
    coverage: (run, asked) => (asked.top === undefined ? run.count.findIndex((count) => count >= asked.value) : reaching(run, asked)),
    risk: (run, asked) => last(run.count.length, (i) => within(run, i, asked)),
    threshold: (run, asked) => last(run.count.length, (i) => sign() * run.threshold[i] >= sign() * asked.value),
  };

  // The stops of the slider: each number of items, each risk at which the chosen point changes, each threshold.
  const distinct = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
  const stops = {
    coverage: () => Array.from({ length: Math.max(0, ...runs().map((run) => run.count.at(-1) ?? 0)) }, (_, i) => i + 1),
    risk: () => distinct(runs().flatMap((run) => {
      let lowest = Infinity;
      return run.risk.toReversed().filter((value) => value < lowest && ((lowest = value), true));
    })),
    threshold: () => distinct(runs().flatMap((run) => run.threshold)),
  };
  const typedOf = (value) => {
    for (const run of runs()) { const i = run.threshold.indexOf(value); if (i >= 0) return run.typed[i]; }
    return String(value);
  };
  const targetText = { coverage: (count) => `${percent(count / data.items)}`, risk: (value) => digits(data.percent ? 100 * value : value, 4) + unit, threshold: typedOf };

  const slide = find("slide"), field = find("typed");
  let way = data.start.way, target = null;
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const interval = (run, i) => (run.low[i] && run.low[i] !== "-" ? [run.low[i], run.high[i]] : null);
  const clause = (system, i) => {
    const run = runs()[system], who = data.names[system];
    if (i < 0) return `${who}: ${data.words.absent[way]}`;
    const ends = interval(run, i);
    return filled(data.words.clause, { who, accepted: run.count[i], items: data.items, coverage: percent(run.count[i] / data.items),
      risk: risk(run.risk[i]), interval: ends ? `${data.words.level} ${ends[0]}${unit} to ${ends[1]}${unit}` : data.words.none });
  };
  const row = (system, i) => {
    const run = runs()[system];
    if (i < 0) return [data.words.absent[way], "–", "–", "–", "–", "–"];
    const ends = interval(run, i), loss = run.sum ? run.sum[i] : run.risk[i] * run.count[i] * data.multiplier;
    return [run.typed[i], percent(run.count[i] / data.items), `${run.count[i]} of ${data.items}`, risk(run.risk[i]),
      ends ? `[${ends[0]}, ${ends[1]}]` : data.words.none, digits(100 * loss / data.items, 3)];
  };
  const ring = (svg, system, i) => {
    const mark = all(".here", svg)[system], run = runs()[system];
    mark.setAttribute("visibility", i < 0 ? "hidden" : "visible");
    if (i < 0) return;
    const { bottom, top } = svg.dataset;
    mark.setAttribute("x", `${100 * run.count[i] / data.items}%`);
    mark.setAttribute("y", `${100 * (top - run.risk[i]) / (top - bottom)}%`);
  };
  const ofVariant = (selector) => all(`.of-variant-${number()} ${selector}, .of-variant-${number()}${selector}`);

  const operate = () => {
    const points = runs().map((run) => (target ? pointFor[way](run, target) : -1));
    find("asked").textContent = target ? `${target.text}${way === "coverage" && target.count ? `, ${target.count} of ${data.items}` : ""}` : "not a number";
    field.setAttribute("aria-invalid", String(!target));
    if (!target) return;
    slide.setAttribute("aria-valuetext", `${find("slide-name").textContent} ${target.text}`);
    const clauses = data.spoken.map((system) => clause(system, points[system]));
    for (const element of ofVariant("[data-sentence]")) element.textContent = `For ${data.words.asked[way]} ${target.text}: ${clauses.join("; ")}.`;
    for (const element of ofVariant("[data-asked]")) element.textContent = `${data.words.asked[way]} ${target.text}`;
    for (const table of ofVariant(".operating")) all("tbody tr", table).forEach((line, system) => {
      const texts = row(system, points[system]);
      all("td", line).forEach((cell, i) => { cell.textContent = texts[i]; });
    });
    for (const svg of ofVariant("svg.curves")) if (svg.closest(".plot")) points.forEach((i, system) => ring(svg, system, i));
    const copied = runs().map((run, system) => ({ system: data.systems[system], operating_point: points[system] < 0 ? null : {
      threshold: run.threshold[points[system]], coverage: run.count[points[system]] / data.items, selective_risk: run.risk[points[system]],
      accepted: run.count[points[system]], items: data.items } }));
    find("operating-json").textContent = ascii(JSON.stringify({ variant: data.variants[number()].name, chosen_by: way, asked: target.text, systems: copied }, null, 2));
    const few = runs().filter((run) => run.count.length < run.all);
    find("carried").textContent = few.length ? `This page carries ${few[0].count.length} of the ${few[0].all} operating points, with every one that a limit of the risk would choose.` : "";
  };
  const names = { coverage: "coverage at least", risk: "risk at most", threshold: "threshold" };
  const setSlider = () => {
    const values = stops[way](), value = target ? (way === "coverage" ? target.value * (target.top === undefined ? 1 : data.items) : target.value) : 0;
    let best = 0;
    values.forEach((stop, i) => { if (Math.abs(stop - value) < Math.abs(values[best] - value)) best = i; });
    slide.max = Math.max(values.length - 1, 0);
    slide.value = best;
  };
  const type = () => {
    const parsed = exact(field.value, way);
    const shown = parsed && (way === "coverage" ? percent(parsed.value) : way === "risk" ? targetText.risk(parsed.value) : field.value.trim());
    target = parsed && { ...parsed, text: shown };
    if (parsed) setSlider();
    operate();
  };
  const move = () => {
    const stop = stops[way]()[Number(slide.value)];
    if (stop === undefined) return;
    target = { value: stop, text: targetText[way](stop), count: way === "coverage" ? stop : 0 };
    field.value = target.text;
    operate();
  };
  const turn = () => {
    way = chosen("way", way);
    find("slide-name").textContent = names[way];
  };
  if (slide) {
    slide.addEventListener("input", move);
    field.addEventListener("input", type);
    for (const input of all('input[name="way"]')) input.addEventListener("change", () => { turn(); setSlider(); slide.value = Math.floor(slide.max / 2); move(); });
    for (const input of all('input[name="variant"]')) input.addEventListener("change", () => { cursor.point = -1; setSlider(); operate(); });
    turn();
    type();
  }

  // Read a curve point by point, with a pointer, a finger or the arrow keys.
  const cursor = { system: 0, point: -1 };
  const visit = (svg, system, i) => {
    cursor.system = system; cursor.point = i;
    runs().forEach((_, other) => ring(svg, other, other === system ? i : -1));
    const run = runs()[system], ends = interval(run, i);
    find("readout").textContent = `${data.names[system]}: threshold ${run.typed[i]}, coverage ${percent(run.count[i] / data.items)}, ` +
      `risk ${risk(run.risk[i])}${ends ? ` [${ends[0]}, ${ends[1]}]` : ""}, ${run.count[i]} of ${data.items} items accepted`;
  };
  for (const reader of all(".reader")) {
    const svg = reader.querySelector("svg"), area = svg.querySelector(".area");
    reader.tabIndex = 0;
    for (const kind of ["pointermove", "pointerdown"]) reader.addEventListener(kind, (event) => {
      const box = area.getBoundingClientRect(), { bottom, top } = svg.dataset;
      let best = [Infinity];
      runs().forEach((run, system) => run.count.forEach((count, i) => {
        const x = box.left + box.width * count / data.items, y = box.top + box.height * (top - run.risk[i]) / (top - bottom);
        const far = (x - event.clientX) ** 2 + (y - event.clientY) ** 2 / 4;
        if (far < best[0]) best = [far, system, i];
      }));
      if (best.length > 1) visit(svg, best[1], best[2]);
    });
    for (const gone of ["pointerleave", "blur"]) reader.addEventListener(gone, () => operate());
    reader.addEventListener("keydown", (event) => {
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!along && !across && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      const systems = runs().map((_, system) => system).filter((system) => runs()[system].count.length);
      if (!systems.length) return;
      const at = Math.max(systems.indexOf(cursor.system), 0);
      const system = systems[Math.min(Math.max(at + (across ?? 0), 0), systems.length - 1)];
      const end = runs()[system].count.length - 1;
      const wanted = event.key === "Home" ? 0 : event.key === "End" ? end : cursor.point + (along ?? 0);
      visit(svg, system, Math.min(Math.max(wanted, 0), end));
    });
  }

  // A margin of practical equivalence around zero.
  const equate = () => {
    const margin = Number(find("equal").value) || 0;
    const rows = all("tr[data-low]").filter((line) => line.getClientRects().length);
    const inside = rows.filter((line) => Number(line.dataset.low) > -margin && Number(line.dataset.high) < margin);
    const message = rows.length ? `${inside.length} of ${rows.length} intervals lie wholly inside ±${margin}` : "no risk here can be compared";
    find("equal-said").textContent = margin ? message : "";
  };
  if (find("equal")) for (const input of [find("equal"), ...all('input[name="variant"]')]) input.addEventListener("input", equate);
  document.documentElement.classList.add("ready");
})();
