// The two lists of pairs: duplicates (sorted, filtered, searched), and clusters.

/** Return the cells of a pair; `cells` are [class, content] in the order of columns. */
function pairCells(data, pair) {
  const { pages, pairs, hosts } = data;
  const [page, original] = [pairs.page[pair], pairs.original[pair]];
  const short = (at) => quoted(withoutScheme(pages.url[at]), 200);
  const cell = (name, ...content) => element(`div.cell.${name}`, { role: "gridcell" }, ...content);
  const badge = element(`span.badge.kind-${pairs.kind[pair]}`, {}, data.kinds[pairs.kind[pair]]);
  const distance = pairs.distance[pair];
  return {
    url: cell("url", short(page)),
    original: cell("original", original < 0 ? element("span.quiet", {}, "gone") : short(original)),
    distance: cell("distance.number", distance === null ? "–" : String(distance), element("span.unit", {}, distance === 1 ? " bit" : " bits")),
    similarity: cell("similarity.number", asShare(pairs.similarity[pair])),
    host: cell("host", quoted(hosts[pages.host[page]], 100)),
    outcome: cell("outcome", badge),
    time: cell("time.number", asTime(pages.first_seen[page]).slice(0, 16)),
  };
}

const COLUMNS = [
  ["url", "Page"],
  ["original", "Repeats"],
  ["distance", "Bits"],
  ["similarity", "Similar"],
  ["host", "Host"],
  ["outcome", "Outcome"],
  ["time", "Seen (UTC)"],
];

/** Return, for each pair, the number or text by which a column sorts. */
function sortKeys({ pages, pairs, hosts }, column) {
  const byPage = (values) => pairs.page.map((page) => values[page]);
  switch (column) {
    case "url":
      return byPage(pages.url);
    case "original":
      return pairs.original.map((page) => (page < 0 ? "" : pages.url[page]));
    case "host":
      return byPage(pages.host).map((host) => hosts[host]);
    case "time":
      return byPage(pages.first_seen);
    case "outcome":
      return pairs.kind;
    default:
      return pairs[column].map((value) => value ?? -1);
  }
}

/** All listed duplicates. */
class DuplicateList {
  constructor(data, choose) {
    this.data = data;
    this.sorting = { column: "time", isDown: false };
    this.keys = new Map();
    this.list = new RowList(byId("duplicate-list"), {
      label: "Duplicates",
      choose,
      heading: this.heading(),
      draw: (row, pair) => {
        const cells = pairCells(data, pair);
        row.append(...COLUMNS.map(([name]) => cells[name]));
      },
    });
    this.prepareFilters();
    this.filter();
  }

  heading() {
    const heading = element("div.row.heading", { role: "row" });
    for (const [name, label] of COLUMNS) {
      const button = element("button", { type: "button" }, label);
      const cell = element(`div.cell.${name}`, { role: "columnheader", "aria-sort": "none" }, button);
      button.addEventListener("click", () => this.sortBy(name));
      heading.append(cell);
    }
    this.headings = heading;
    return heading;
  }

  prepareFilters() {
    const { hosts, pages, pairs, crawls } = this.data;
    const counts = new Map();
    const seenCrawls = new Set();
    for (let pair = 0; pair < pairs.page.length; pair++) {
      const page = pairs.page[pair];
      counts.set(pages.host[page], (counts.get(pages.host[page]) ?? 0) + 1);
      seenCrawls.add(pages.crawl[page]);
    }
    const ordered = [...counts].sort((one, other) => other[1] - one[1]);
    for (const [host, count] of ordered.slice(0, 5_000)) {
      const name = visible(hosts[host].slice(0, 80)).map((node) => node.textContent ?? node).join("");
      byId("host").append(element("option", { value: String(host) }, `${name || "(none)"} (${number(count)})`));
    }
    for (const crawl of [...seenCrawls].sort((one, other) => one - other)) {
      const name = (crawls[crawl] ?? `crawl ${crawl}`).slice(0, 80);
      byId("crawl").append(element("option", { value: String(crawl) }, name));
    }
    byId("crawl-label").hidden = seenCrawls.size < 2;
    for (const [name, label] of COLUMNS) {
      byId("sort").append(element("option", { value: name, selected: name === "time" }, label));
    }
    byId("sort").addEventListener("change", () => this.sortBy(byId("sort").value));
    this.texts = pairs.page.map((page, pair) => {
      const original = pairs.original[pair];
      const of = (at) => `${pages.url[at]}\n${pages.title[at]}`;
      return (original < 0 ? of(page) : `${of(page)}\n${of(original)}`).toLowerCase();
    });
    const form = byId("filters");
    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.filter(), 80);
    });
    form.addEventListener("reset", () => setTimeout(() => this.filter()));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  sortBy(column) {
    const isSame = this.sorting.column === column;
    this.sorting = { column, isDown: isSame ? !this.sorting.isDown : false };
    this.filter();
  }

  filter() {
    const { pages, pairs } = this.data;
    const listed = pairs.page.length;
    const value = (id) => byId(id).value;
    const [host, outcome, crawl] = ["host", "outcome", "crawl"].map((id) => (value(id) === "" ? null : Number(value(id))));
    const least = value("least-distance") === "" ? -Infinity : Number(value("least-distance"));
    const most = value("most-distance") === "" ? Infinity : Number(value("most-distance"));
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [];
    for (let pair = 0; pair < listed; pair++) {
      const page = pairs.page[pair];
      if (host !== null && pages.host[page] !== host) continue;
      if (outcome !== null && pairs.kind[pair] !== outcome) continue;
      if (crawl !== null && pages.crawl[page] !== crawl) continue;
      const distance = pairs.distance[pair] ?? 0;
      if (distance < least || distance > most) continue;
      if (words.length && !words.every((word) => this.texts[pair].includes(word))) continue;
      rows.push(pair);
    }
    this.list.show(this.sorted(rows));
    const all = rows.length === listed ? "" : ` of ${number(listed)}`;
    byId("shown-count").textContent = `${number(rows.length)}${all} shown`;
  }

  sorted(rows) {
    const { column, isDown } = this.sorting;
    if (!this.keys.has(column)) this.keys.set(column, sortKeys(this.data, column));
    const keys = this.keys.get(column);
    const step = isDown ? -1 : 1;
    rows.sort((one, other) => {
      const [a, b] = [keys[one], keys[other]];
      return a < b ? -step : a > b ? step : one - other;
    });
    for (const cell of this.headings.children) {
      const isThis = cell.classList.contains(column);
      cell.setAttribute("aria-sort", isThis ? (isDown ? "descending" : "ascending") : "none");
    }
    byId("sort").value = column;
    return rows;
  }

  pairOf(row) {
    return row;
  }
}

/** Kept pages with the pages that repeat them, largest clusters first. */
class ClusterList {
  constructor(data, choose) {
    this.open = new Set();
    const members = new Map();
    for (let pair = 0; pair < data.pairs.page.length; pair++) {
      const original = data.pairs.original[pair];
      if (!members.has(original)) members.set(original, []);
      members.get(original).push(pair);
    }
    this.clusters = [...members]
      .map(([original, pairs]) => ({ original, pairs }))
      .sort((one, other) => other.pairs.length - one.pairs.length || one.original - other.original);
    byId("cluster-count").textContent = number(this.clusters.length);
    this.list = new RowList(byId("cluster-list"), {
      label: "Clusters",
      choose: (row, isClicked) => {
        if (isClicked && typeof row !== "number") this.toggle(row);
        choose(this.pairOf(row), isClicked);
      },
      draw: (row, value) => {
        if (typeof value !== "number") {
          this.drawCluster(row, value, data.pages);
          return;
        }
        const cells = pairCells(data, value);
        row.classList.add("member");
        row.append(...["url", "distance", "similarity", "outcome", "time"].map((name) => cells[name]));
      },
    });
    this.refresh();
  }

  drawCluster(row, { original, pairs }, pages) {
    row.classList.add("cluster");
    row.setAttribute("aria-expanded", String(this.open.has(original)));
    const size = pairs.length + (original >= 0);
    const url = original < 0 ? "" : withoutScheme(pages.url[original]);
    const title = original < 0 ? "Originals that are gone" : pages.title[original] || url;
    row.append(
      element("div.cell.arrow", { role: "gridcell", "aria-hidden": "true" }, this.open.has(original) ? "▾" : "▸"),
      element("div.cell.size.number", { role: "gridcell", title: "pages, the kept one included" }, number(size)),
      element("div.cell.title", { role: "gridcell" }, quoted(title, 200)),
      element("div.cell.url", { role: "gridcell" }, quoted(url, 200))
    );
  }

  toggle({ original }) {
    if (!this.open.delete(original)) this.open.add(original);
    this.refresh();
  }

  refresh() {
    const rows = [];
    for (const cluster of this.clusters) {
      rows.push(cluster);
      if (this.open.has(cluster.original)) rows.push(...cluster.pairs);
    }
    this.list.show(rows);
  }

  pairOf(row) {
    return typeof row === "number" ? row : -1;
  }
}
