// Judgements of pairs: kept in this browser under the identity of the index, exported as JSON lines
//
//     {"a": URL of the later page, "b": URL of the other, "same": true}

/** Return the URLs of a pair, by which a label names it; null if the pair cannot be judged. */
function urlsOf({ pages, pairs }, pair) {
  const [page, original] = [pairs.page[pair], pairs.original[pair]];
  const urls = original < 0 ? [] : [pages.url[page], pages.url[original]];
  return urls.length && urls.every(Boolean) && urls[0] !== urls[1] ? urls : null;
}

/** The judgements of pairs, by the URLs of their pages. */
class Labels {
  constructor(identity) {
    this.key = `dedup-filter report ${identity}`;
    this.isKept = true;
    this.byPair = new Map();
    this.changed = () => {};
    try {
      const stored = JSON.parse(localStorage.getItem(this.key) ?? "[]");
      for (const { a, b, same } of stored) this.byPair.set(Labels.pairOf(a, b), { a, b, same });
    } catch {
      this.isKept = false;
    }
  }

  static pairOf(a, b) {
    return JSON.stringify([a, b]);
  }

  /** Return true, false, or undefined if the pair was not judged. */
  of(a, b) {
    return this.byPair.get(Labels.pairOf(a, b))?.same;
  }

  ofPair(data, pair) {
    const urls = urlsOf(data, pair);
    return urls === null ? undefined : this.of(...urls);
  }

  /** Judge a pair; undefined takes the judgement back. */
  set(a, b, same) {
    if (same === undefined) this.byPair.delete(Labels.pairOf(a, b));
    else this.byPair.set(Labels.pairOf(a, b), { a, b, same });
    this.store();
  }

  clear() {
    this.byPair.clear();
    this.store();
  }

  store() {
    try {
      localStorage.setItem(this.key, JSON.stringify([...this.byPair.values()]));
    } catch {
      this.isKept = false;
    }
    this.changed();
  }

  get size() {
    return this.byPair.size;
  }

  lines() {
    return [...this.byPair.values()].map((label) => `${JSON.stringify(label)}\n`).join("");
  }
}

/** Let the browser save a text as a file. */
function saveAs(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
