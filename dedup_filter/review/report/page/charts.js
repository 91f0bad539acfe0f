// The figures of the overview -> charts, drawn by Chart.js in the colours of the style sheet.

const MOST_CLUSTERS = 15;

/** Draw all charts, and redraw them when light turns to dark; `open` shows the pairs of a column. */
function drawCharts(data, clusters, open) {
  let charts = [];
  const draw = () => {
    charts.forEach((chart) => chart.destroy());
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    Chart.defaults.color = colour("quiet");
    Chart.defaults.borderColor = colour("line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    charts = [
      chartOverTime(data.over_time, colour),
      chartOfDistances(data.by_distance, data.bounds.max_distance, colour, open.distance),
      chartOfHosts(data, colour, open.host),
      chartOfClusters(data, clusters, colour, open.cluster),
    ];
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/** Draw columns, or bars if `isFlat`, on a canvas; its label has the figures for screen readers. */
function columnChart(id, { labels, series, isFlat = false, click, plugins = [], tooltip = {}, ticks = {} }) {
  const canvas = byId(id);
  canvas.name ??= canvas.getAttribute("aria-label");
  const figures = labels.map((label, at) => {
    const values = series.filter((each) => each.data[at]).map((each) => `${each.label} ${each.data[at]}`);
    return values.length ? `${label}: ${values.join(", ")}` : null;
  });
  canvas.setAttribute("aria-label", `${canvas.name}. ${figures.filter(Boolean).slice(0, 60).join("; ")}`);
  const count = { stacked: true, beginAtZero: true, ticks: { precision: 0 }, border: { display: false } };
  const names = { stacked: true, grid: { display: false }, ticks: { autoSkip: !isFlat, maxRotation: 0, ...ticks } };
  return new Chart(canvas, {
    type: "bar",
    data: { labels, datasets: series.map((each) => ({ borderRadius: 2, maxBarThickness: 36, ...each })) },
    options: {
      indexAxis: isFlat ? "y" : "x",
      scales: isFlat ? { x: count, y: names } : { x: names, y: count },
      interaction: { mode: "index", axis: isFlat ? "y" : "x", intersect: false },
      plugins: {
        legend: { display: series.length > 1, align: "end", labels: { boxWidth: 10, boxHeight: 10 } },
        tooltip: { callbacks: tooltip },
      },
      onClick: (_, elements) => elements.length && click?.(elements[0].index),
      onHover: (event, elements) => {
        event.native.target.style.cursor = elements.length && click ? "pointer" : "";
      },
    },
    plugins,
  });
}

function chartOverTime({ start, span, kept, near, exact }, colour) {
  const unit = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]].find(([size]) => span % size === 0);
  const count = span / unit[0];
  byId("time-span").textContent = near.length ? `a column is ${count === 1 ? "a" : count} ${unit[1]}${count === 1 ? "" : "s"}, UTC` : "";
  const labels = near.map((_, at) => {
    const time = asTime(start + at * span);
    return span >= 86_400 ? time.slice(0, 10) : span >= 60 ? time.slice(5, 16) : time.slice(11);
  });
  return columnChart("chart-time", {
    labels,
    series: [
      { label: "near", data: near, backgroundColor: colour("near") },
      { label: "exact", data: exact, backgroundColor: colour("exact") },
    ],
    tooltip: { footer: ([{ dataIndex: at }]) => `of ${counted(kept[at] + near[at] + exact[at], "page")}` },
  });
}

function chartOfDistances({ near, exact, outside }, k, colour, open) {
  const outer = Object.keys(outside).map(Number);
  const count = Math.max(near.length, k + 4, ...outer.map((bits) => bits + 1));
  const filled = (values) => Array.from({ length: count }, (_, bits) => values[bits] ?? 0);
  const border = {
    id: "border",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      const x = (scales.x.getPixelForValue(k) + scales.x.getPixelForValue(k + 1)) / 2;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("accent");
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.textAlign = "right";
      ctx.font = `12px ${Chart.defaults.font.family}`;
      ctx.fillText(`k = ${k}`, x - 5, chartArea.top + 10);
      ctx.restore();
    },
  };
  const series = [
    { label: "near", data: filled(near), backgroundColor: colour("near") },
    { label: "exact", data: filled(exact), backgroundColor: colour("exact") },
  ];
  if (outer.length) {
    series.push({ label: "kept, just outside", data: filled(outside), backgroundColor: colour("outside") });
  }
  return columnChart("chart-distance", {
    labels: filled([]).map((_, bits) => String(bits)),
    series,
    click: open,
    plugins: [border],
    tooltip: { title: ([{ label }]) => counted(Number(label), "bit") },
  });
}

const shortened = (name, longest) => (name.length > longest ? `${name.slice(0, longest - 1)}…` : name);
/** A text of a page as a label on a canvas, with invisible characters spelt out. */
const asLabel = (text, longest) => shortened(text.replace(UNSEEN, codeOf), longest);

function chartOfHosts({ by_host: { hosts, near, exact, others, of_others } }, colour, open) {
  byId("other-hosts").textContent = others ? `and ${number(of_others)} of ${counted(others, "other host")}` : "";
  return columnChart("chart-hosts", {
    labels: hosts.map((host) => asLabel(host || "(none)", 28)),
    series: [
      { label: "near", data: near, backgroundColor: colour("near") },
      { label: "exact", data: exact, backgroundColor: colour("exact") },
    ],
    isFlat: true,
    click: (at) => open(hosts[at]),
  });
}

function chartOfClusters({ pages }, clusters, colour, open) {
  const largest = clusters.slice(0, MOST_CLUSTERS);
  const nameOf = (page) => (page < 0 ? "(gone)" : pages.title[page] || withoutScheme(pages.url[page]));
  return columnChart("chart-clusters", {
    labels: largest.map(({ original }) => asLabel(nameOf(original), 28)),
    series: [{ label: "pages", data: largest.map(({ original, pairs }) => pairs.length + (original >= 0)), backgroundColor: colour("cluster") }],
    isFlat: true,
    click: open,
  });
}
