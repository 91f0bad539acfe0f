// Values -> elements. Text of a crawled page becomes a text node, isolated in its direction of
// writing, with invisible characters spelt out.

const byId = (id) => document.getElementById(id);

/** Make an element: its classes after dots, properties, children (nodes or texts). */
function element(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  made.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Controls, marks that turn the direction of writing, spaces of no width, halves of pairs. Joiners
// (U+200C, U+200D) stay: Persian, Indic scripts and emoji need them.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const codeOf = (character) =>
  `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Return the nodes of a text, with invisible characters spelt out. */
function visible(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > from) nodes.push(text.slice(from, found.index));
    nodes.push(element("span.unseen", { title: "an invisible character" }, codeOf(found[0])));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

/** Return a text of a page as an isolated element, cut at a length. */
function quoted(text, longest = 20_000) {
  const cut = text.length > longest ? [...visible(text.slice(0, longest)), "…"] : visible(text);
  return element("bdi", {}, ...cut);
}

/** Return a URL as a link if it is http or https, else as text only. */
function linked(url) {
  let isOfWeb = false;
  try {
    isOfWeb = ["http:", "https:"].includes(new URL(url).protocol);
  } catch {
    // no URL: a text like any other
  }
  if (!isOfWeb) return quoted(url);
  const rel = "noreferrer noopener";
  return element("a", { href: url, rel, target: "_blank", referrerPolicy: "no-referrer" }, quoted(url));
}

const withoutScheme = (url) => url.replace(/^https?:\/\//, "");

const number = (value) => value.toLocaleString("en-US");

/** Write a count with a noun whose plural ends in s. */
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Write Unix seconds in UTC, as "2025-01-31 12:30:00". */
const asTime = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 19).replace("T", " ");

const asShare = (thousandths) =>
  thousandths === null ? "–" : `${(thousandths / 10).toFixed(thousandths % 10 ? 1 : 0)} %`;
