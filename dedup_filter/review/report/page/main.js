// The page as a whole: views, keys.

const data = JSON.parse(byId("data").textContent);
const texts = JSON.parse(byId("texts").textContent);
const pairView = new PairView(byId("pair"), data, texts);

/** Show a pair; on a phone, where it is below the list, a touch scrolls to it. */
function show(pair, isTouched = false) {
  pairView.show(pair);
  if (isTouched && pair >= 0 && matchMedia("(max-width: 760px)").matches) {
    byId("pair").scrollIntoView();
  }
}

const duplicates = new DuplicateList(data, show);
const clusterList = new ClusterList(data, show);
const VIEWS = { overview: null, duplicates, clusters: clusterList };
let view = "overview";

/** Go to a view, and show the pair that is chosen there. */
function goTo(name) {
  view = name;
  for (const each of Object.keys(VIEWS)) {
    byId(each).hidden = each !== name;
    const tab = byId(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
  }
  const list = VIEWS[name]?.list;
  list?.redraw(true);
  const row = list?.rows[list.chosen];
  show(row === undefined ? -1 : VIEWS[name].pairOf(row));
}

function move(step) {
  const list = VIEWS[view]?.list;
  if (list) list.go(list.chosen < 0 && step > 0 ? 0 : list.chosen + step);
}

const help = byId("help");
byId("help-button").addEventListener("click", () => help.showModal());
for (const name of Object.keys(VIEWS)) byId(`tab-${name}`).addEventListener("click", () => goTo(name));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const names = Object.keys(VIEWS);
  goTo(names[(names.indexOf(view) + step + names.length) % names.length]);
  byId(`tab-${view}`).focus();
});

const KEYS = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  "?": () => help.showModal(),
  "/": () => {
    goTo("duplicates");
    byId("search").focus();
  },
  Enter: () => {
    const row = clusterList.list.rows[clusterList.list.chosen];
    if (view === "clusters" && row !== undefined && typeof row !== "number") clusterList.toggle(row);
  },
  Home: () => VIEWS[view]?.list.go(0),
  End: () => VIEWS[view]?.list.go(Infinity),
};
Object.keys(VIEWS).forEach((name, at) => {
  KEYS[String(at + 1)] = () => goTo(name);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const within = event.target.closest("input, select, textarea, button, a, .text");
  if (within?.matches("input[type=search], input[type=number]") && event.key === "Escape") within.blur();
  // Arrows, Enter etc. act on the focused element. Letters do so only where text can be typed.
  if (within && (event.key.length > 1 || within.matches("input, select"))) return;
  const act = KEYS[event.key];
  if (!act || (view === "overview" && /^(Arrow|Home|End)/.test(event.key))) return;
  event.preventDefault();
  act();
});
