// Rows of equal height -> the visible rows, drawn as they scroll into view. A hundred thousand rows
// take no more elements than fit on the screen. One row is chosen and kept in view.

const BEYOND = 8; // rows drawn above and below the visible rows

/** A list of rows; `draw` makes the cells of a row, `choose` is called with the chosen row. */
class RowList {
  constructor(box, { label, draw, choose, heading = null }) {
    this.box = box;
    this.draw = draw;
    this.choose = choose;
    this.rows = [];
    this.chosen = -1;
    this.height = 36;
    this.body = element("div.rows", { role: "presentation" });
    this.view = element("div.view", { role: "presentation" }, ...(heading ? [heading] : []), this.body);
    this.heading = heading; // it stays above the rows that move beneath it
    this.table = element("div.table", { role: "grid", "aria-label": label, tabIndex: 0 });
    this.table.append(this.view);
    this.empty = element("p.quiet.empty", { hidden: true }, "Nothing to show.");
    box.append(this.table, this.empty);
    this.view.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.redraw(true)).observe(this.view);
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row && !event.target.closest("a")) this.go(Number(row.dataset.at), true);
    });
  }

  /** Show other rows; the chosen row stays chosen if it is among them. */
  show(rows, isSame = (one, other) => one === other) {
    const chosen = this.rows[this.chosen];
    this.rows = rows;
    this.chosen = chosen === undefined ? -1 : rows.findIndex((row) => isSame(row, chosen));
    this.table.setAttribute("aria-rowcount", rows.length);
    this.empty.hidden = rows.length > 0;
    this.table.classList.toggle("without-rows", rows.length === 0);
    if (this.chosen < 0) this.view.scrollTop = 0;
    this.redraw(true);
  }

  /** Choose a row by its place, and bring it into view. */
  go(place, isClicked = false) {
    if (!this.rows.length) return;
    this.chosen = Math.min(Math.max(place, 0), this.rows.length - 1);
    const top = this.chosen * this.height;
    const room = this.view.clientHeight - (this.heading?.offsetHeight ?? 0);
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (top + this.height > this.view.scrollTop + room) {
      this.view.scrollTop = top + this.height - room;
    }
    this.redraw(true);
    this.choose(this.rows[this.chosen], isClicked);
  }

  redraw(isAnew = false) {
    if (!this.view.clientHeight) return;
    this.height = parseFloat(getComputedStyle(this.view).getPropertyValue("--row")) || 36;
    this.body.style.height = `${this.rows.length * this.height}px`;
    const first = Math.max(Math.floor(this.view.scrollTop / this.height) - BEYOND, 0);
    const inSight = Math.ceil(this.view.clientHeight / this.height) + 2 * BEYOND;
    const last = Math.min(first + inSight, this.rows.length);
    if (!isAnew && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const drawn = [];
    for (let at = first; at < last; at++) {
      const row = element("div.row", {
        role: "row",
        id: `${this.box.id}-row-${at}`,
        "aria-rowindex": at + 1,
        "aria-selected": String(at === this.chosen),
      });
      row.dataset.at = at;
      row.style.top = `${at * this.height}px`;
      if (at % 2) row.classList.add("odd");
      this.draw(row, this.rows[at], at);
      drawn.push(row);
    }
    this.body.replaceChildren(...drawn);
    const active = this.chosen >= first && this.chosen < last ? drawn[this.chosen - first].id : "";
    this.table.setAttribute("aria-activedescendant", active);
  }
}
