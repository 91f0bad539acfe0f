// A chosen pair -> its two pages side by side: their records, fingerprints and texts.

/** Return a text, and the length of the whole of it; undefined: there is none. */
async function unpacked(packed) {
  if (packed === undefined) return undefined;
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Return the bits of two fingerprints, most significant first, with differing bits marked. */
function bitRows(one, other) {
  const bitsOf = (hexadecimal) =>
    [...hexadecimal].map((digit) => parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  const rows = [one, other].map((each) => (each === null ? null : bitsOf(each)));
  return rows.map((bits, row) => {
    const line = element("div.bits", { role: "img" });
    line.setAttribute("aria-label", bits === null ? "no fingerprint" : `fingerprint ${[one, other][row]}`);
    if (bits === null) {
      line.append(element("span.quiet", {}, "no fingerprint: too few words"));
      return line;
    }
    const against = rows[1 - row];
    for (let byte = 0; byte < 8; byte++) {
      const group = element("span.byte");
      for (let bit = 8 * byte; bit < 8 * byte + 8; bit++) {
        const differs = against !== null && against[bit] !== bits[bit];
        group.append(element(differs ? "i.bit.differs" : "i.bit", {}, bits[bit]));
      }
      line.append(group);
    }
    return line;
  });
}

function differingBits(one, other) {
  if (one === null || other === null) return null;
  let differing = BigInt(`0x${one}`) ^ BigInt(`0x${other}`);
  let count = 0;
  for (; differing; differing &= differing - 1n) count++;
  return count;
}

/** Return a text in which words that the other text lacks are marked. */
function markedText([text, length], words, isCommon, lackingClass) {
  const box = element("div.text", { tabIndex: 0, dir: "auto" });
  let paragraph = element("p");
  const put = (from, to, isLacking) => {
    text.slice(from, to).split("\n").forEach((line, at) => {
      if (at) {
        box.append(paragraph);
        paragraph = element("p");
      }
      const nodes = visible(line);
      paragraph.append(...(isLacking ? [element(`mark.${lackingClass}`, {}, ...nodes)] : nodes));
    });
  };
  let from = 0;
  words.forEach((word, at) => {
    if (isCommon[at]) return;
    put(from, word.begin, false);
    put(word.begin, word.end, true);
    from = word.end;
  });
  put(from, text.length, false);
  box.append(paragraph);
  if (length > text.length) {
    box.append(element("p.quiet", {}, `The first part of ${number(length)} characters.`));
  }
  return box;
}

/** Draws the chosen pair. */
class PairView {
  constructor(box, data, texts) {
    this.box = box;
    this.data = data;
    this.texts = texts;
    this.shown = -1;
  }

  /** Show a pair by its number; -1: none. */
  async show(pair) {
    this.shown = pair;
    this.box.hidden = pair < 0;
    if (pair < 0) return;
    const { pages, pairs } = this.data;
    const [page, original] = [pairs.page[pair], pairs.original[pair]];
    const kind = this.data.kinds[pairs.kind[pair]];
    const names = ["duplicate", "its original, kept"];
    const prints = [page, original].map((each) => (each < 0 ? null : pages.fingerprint[each]));
    const rows = bitRows(...prints);
    const columns = [page, original].map((each, side) =>
      element("section.page", {}, this.about(each, names[side], rows[side]))
    );
    const texts = element("div.texts", {}, element("p.quiet", {}, "…"));
    this.box.replaceChildren(
      this.heading(pair, kind, prints),
      element("div.sides", {}, ...columns),
      texts
    );
    await this.readTexts(pair, texts);
  }

  heading(pair, kind, prints) {
    const { pairs, pages } = this.data;
    const facts = [element(`span.badge.kind-${pairs.kind[pair]}`, {}, kind)];
    const distance = pairs.distance[pair];
    if (distance !== null) facts.push(element("span", {}, counted(distance, "bit")));
    if (pairs.similarity[pair] !== null) facts.push(element("span", {}, `${asShare(pairs.similarity[pair])} similar`));
    const drawn = differingBits(...prints);
    if (drawn !== null && distance !== null && drawn !== distance) {
      const why = `The page was found by another of its texts: the fingerprints below differ in ${counted(drawn, "bit")}.`;
      facts.push(element("span.quiet.small", {}, why));
    }
    const title = element("h2.for-readers", {}, quoted(`${kind}: ${pages.title[pairs.page[pair]] || pages.url[pairs.page[pair]]}`, 200));
    return element("header", {}, title, element("div.facts", {}, ...facts));
  }

  about(page, name, bits) {
    const box = element("div.about", {}, element("h3", {}, name));
    if (page < 0) {
      box.append(element("p.quiet", {}, "The record of this page is gone: it was forgotten."));
      return box;
    }
    const { pages, crawls } = this.data;
    const facts = [counted(pages.words[page], "word")];
    if (pages.language[page]) facts.push(pages.language[page]);
    facts.push(`${asTime(pages.first_seen[page])} UTC`, crawls[pages.crawl[page]] ?? "");
    box.append(
      element("p.title", {}, quoted(pages.title[page] || "(no headline)", 400)),
      element("p.url", {}, pages.url[page] ? linked(pages.url[page]) : "(no URL)"),
      element("p.quiet.small", {}, quoted(facts.filter(Boolean).join(" · "))),
      bits
    );
    return box;
  }

  async readTexts(pair, box) {
    const { pairs, pages } = this.data;
    const say = (text) => box.replaceChildren(element("p.quiet.note", {}, text));
    if (!this.data.texts_kept) {
      say("No texts were kept. Set DEDUP_KEEP_TEXT = True before a crawl to see its pairs side by side here.");
      return;
    }
    const ofPages = [pairs.page[pair], pairs.original[pair]].map((page) => this.texts[pages.number[page]]);
    let sides;
    try {
      sides = await Promise.all(ofPages.map(unpacked));
    } catch (error) {
      if (this.shown === pair) say(`The texts cannot be unpacked here: ${error.message}`);
      return;
    }
    if (this.shown !== pair) return; // another one was chosen meanwhile
    if (!sides.some(Boolean)) {
      say("The texts of this pair were not kept, or left out to keep this file small (see a larger --texts).");
      return;
    }
    const words = sides.map((side) => (side ? wordsOf(side[0]) : []));
    const isBoth = sides.every(Boolean);
    const common = isBoth ? commonWords(...words) : words.map((each) => each.map(() => true));
    const drawn = sides.map((side, at) =>
      side
        ? markedText(side, words[at], common[at], at ? "only-there" : "only-here")
        : element("div.text", {}, element("p.quiet", {}, "The text of this page was not kept, or left out (see --texts)."))
    );
    const lacking = common.map((each) => each.filter((is) => !is).length);
    const legend = element(
      "p.legend.small.quiet",
      {},
      element("mark.only-here", {}, "only in the first"),
      ` ${counted(lacking[0], "word")} `,
      element("mark.only-there", {}, "only in the second"),
      ` ${counted(lacking[1], "word")}`
    );
    box.replaceChildren(legend, element("div.sides", {}, ...drawn));
  }
}
