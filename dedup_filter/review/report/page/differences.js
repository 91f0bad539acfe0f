// Two texts -> the words of each that the other lacks, in order (Myers 1986).
//
// Common words at the beginning and the end are matched first. Then the texts are cut at runs of
// three words that occur once in each (the longest ascending row of such runs, as in "patience
// diff"). The parts between are compared exactly if they differ in at most MOST_STEPS words; else
// all their words count as different.

const MOST_STEPS = 1500;

const segmenter =
  "Segmenter" in Intl ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

/** Return the words of a text: [begin, end) of each, and the key that is compared. */
function wordsOf(text) {
  const words = [];
  const add = (word, begin) =>
    words.push({ begin, end: begin + word.length, key: word.normalize("NFKC").toLowerCase() });
  if (segmenter) {
    for (const part of segmenter.segment(text)) {
      if (part.isWordLike) add(part.segment, part.index);
    }
  } else {
    for (const found of text.matchAll(/\p{Script=Han}|[\p{L}\p{M}\p{N}_]+/gu)) {
      add(found[0], found.index);
    }
  }
  return words;
}

/** Return, for each word of both texts, whether it is matched in the other: two boolean arrays. */
function commonWords(left, right) {
  const a = left.map((word) => word.key);
  const b = right.map((word) => word.key);
  const inA = new Array(a.length).fill(false);
  const inB = new Array(b.length).fill(false);
  const match = (i, j) => {
    inA[i] = true;
    inB[j] = true;
  };
  const compare = (fromA, toA, fromB, toB, isCut) => {
    while (fromA < toA && fromB < toB && a[fromA] === b[fromB]) match(fromA++, fromB++);
    while (fromA < toA && fromB < toB && a[toA - 1] === b[toB - 1]) match(--toA, --toB);
    if (fromA === toA || fromB === toB) return;
    const anchors = isCut ? [] : anchorsOf(a, b, fromA, toA, fromB, toB);
    if (!anchors.length) {
      for (const [i, j] of shortestEdit(a, b, fromA, toA, fromB, toB)) match(i, j);
      return;
    }
    let [lastA, lastB] = [fromA, fromB];
    for (const [i, j] of anchors) {
      if (i < lastA || j < lastB) continue;
      compare(lastA, i, lastB, j, true);
      match(i, j);
      [lastA, lastB] = [i + 1, j + 1];
    }
    compare(lastA, toA, lastB, toB, true);
  };
  compare(0, a.length, 0, b.length, false);
  return [inA, inB];
}

/** Return the places of runs of three words that occur once in each text, ascending in both. */
function anchorsOf(a, b, fromA, toA, fromB, toB) {
  const places = (words, from, to) => {
    const of = new Map();
    for (let i = from; i + 2 < to; i++) {
      const run = `${words[i]} ${words[i + 1]} ${words[i + 2]}`;
      of.set(run, of.has(run) ? -1 : i);
    }
    return of;
  };
  const inB = places(b, fromB, toB);
  const pairs = [];
  for (const [run, i] of places(a, fromA, toA)) {
    const j = inB.get(run) ?? -1;
    if (i >= 0 && j >= 0) pairs.push([i, j]);
  }
  // The longest row that ascends in both (pairs ascend in the first already).
  const tails = [];
  const before = new Array(pairs.length);
  pairs.forEach(([, j], at) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]][1] < j) low = middle + 1;
      else high = middle;
    }
    before[at] = low ? tails[low - 1] : -1;
    tails[low] = at;
  });
  const row = [];
  for (let at = tails.length ? tails[tails.length - 1] : -1; at >= 0; at = before[at]) {
    row.push(pairs[at]);
  }
  return row.reverse();
}

/** Return the pairs of equal words of a shortest edit; none if it is longer than MOST_STEPS. */
function shortestEdit(a, b, fromA, toA, fromB, toB) {
  const [n, m] = [toA - fromA, toB - fromB];
  const most = Math.min(n + m, MOST_STEPS);
  const reached = new Int32Array(2 * most + 3);
  const trace = [];
  for (let steps = 0; steps <= most; steps++) {
    trace.push(reached.slice(most - steps, most + steps + 3));
    for (let k = -steps; k <= steps; k += 2) {
      const at = most + 1 + k;
      const isDown = k === -steps || (k !== steps && reached[at - 1] < reached[at + 1]);
      let x = isDown ? reached[at + 1] : reached[at - 1] + 1;
      let y = x - k;
      while (x < n && y < m && a[fromA + x] === b[fromB + y]) {
        x++;
        y++;
      }
      reached[at] = x;
      if (x >= n && y >= m) return walkedBack(trace, n, m, fromA, fromB);
    }
  }
  return [];
}

function walkedBack(trace, n, m, fromA, fromB) {
  const pairs = [];
  let [x, y] = [n, m];
  for (let steps = trace.length - 1; steps >= 0 && (x > 0 || y > 0); steps--) {
    const reached = trace[steps]; // of k - 1 and k + 1 around -steps..steps
    const at = (k) => reached[k + steps + 1];
    const k = x - y;
    const isDown = k === -steps || (k !== steps && at(k - 1) < at(k + 1));
    const lastK = isDown ? k + 1 : k - 1;
    const lastX = steps === 0 ? 0 : at(lastK);
    const lastY = steps === 0 ? 0 : lastX - lastK;
    while (x > lastX && y > lastY) pairs.push([fromA + --x, fromB + --y]);
    [x, y] = [lastX, lastY];
  }
  return pairs;
}
