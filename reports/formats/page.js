"use strict";
/* The page's only script. It shows texts with textContent alone and makes no markup out of any of them. */
const root = document.documentElement;
const $ = (id) => document.getElementById(id);
const LETTERS = { pass: "P", fail: "F", unscorable: "U", error: "E", missing: "–" };
const MOST_SHOWN = 20000;
const PAGE = 100;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/* theme */
const toggle = $("theme");
const darkWanted = matchMedia("(prefers-color-scheme: dark)");
function theme() { return root.dataset.theme || (darkWanted.matches ? "dark" : "light"); }
function nameToggle() { toggle.textContent = theme() === "dark" ? "Light" : "Dark"; toggle.setAttribute("aria-label", toggle.textContent + " colours"); }
toggle.hidden = false;
toggle.addEventListener("click", () => { root.dataset.theme = theme() === "dark" ? "light" : "dark"; nameToggle(); });
darkWanted.addEventListener("change", nameToggle);
nameToggle();

/* print: everything that is folded away is unfolded */
const folded = [];
addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details:not([open])")) { folded.push(each); each.open = true; } });
addEventListener("afterprint", () => { for (const each of folded.splice(0)) each.open = false; });

/* Characters that hide, reorder or move text are shown as what they are. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
function showText(parent, text) {
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found[0] === "\r" && text[found.index + 1] === "\n") continue;
    if (found.index > from) parent.append(text.slice(from, found.index));
    const code = found[0].charCodeAt(0);
    const name = code < 32 ? String.fromCharCode(0x2400 + code) : "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    const span = element("span", name, "hidden-char");
    span.title = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    parent.append(span);
    from = found.index + 1;
  }
  if (from < text.length) parent.append(text.slice(from));
}

/* A text in a block that scrolls; a very long one is shown in parts. `marked` is the range of the first difference. */
function block(text, label, marked) {
  const holder = element("div");
  const pre = element("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", label);
  const draw = (limit) => {
    pre.replaceChildren();
    const shown = text.slice(0, limit);
    if (marked && marked[0] < shown.length) {
      showText(pre, shown.slice(0, marked[0]));
      const mark = element("mark");
      showText(mark, shown.slice(marked[0], marked[1]));
      pre.append(mark);
      showText(pre, shown.slice(marked[1]));
    } else {
      showText(pre, shown);
      if (marked && marked[0] >= text.length) pre.append(element("mark", "⟨ends here⟩"));
    }
  };
  draw(MOST_SHOWN);
  holder.append(pre);
  if (text.length > MOST_SHOWN) {
    const more = element("button", `Show all ${text.length.toLocaleString("en")} characters`);
    more.type = "button";
    more.addEventListener("click", () => { draw(text.length); more.remove(); pre.focus(); });
    holder.append(more);
  }
  return holder;
}

function fold(title, ...content) {
  const made = element("details");
  made.append(element("summary", title), ...content);
  return made;
}

/* the grid: one cell takes part in the tab order, arrow keys move, Enter opens */
const table = $("cells");
let viewer = null;
if (table) {
  const rows = [...table.querySelectorAll("tr[data-i]")].map((row) => [...row.querySelectorAll("td")]);
  let at = [0, 0];
  const enter = (y, x, focus) => {
    const cell = rows[y] && rows[y][x];
    if (!cell) return;
    const old = rows[at[0]][at[1]];
    old.removeAttribute("tabindex");
    at = [y, x];
    cell.tabIndex = 0;
    if (focus) cell.focus();
  };
  enter(0, 0, false);
  const place = (cell) => { const y = rows.findIndex((row) => row[0].parentNode === cell.parentNode); return [y, rows[y].indexOf(cell)]; };
  const openCell = (cell) => viewer && viewer.open(cell.parentNode.dataset.i, Number(cell.dataset.r), Number(cell.dataset.s), true);
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td");
    if (!cell || !cell.dataset.r) return;
    enter(...place(cell), false);
    openCell(cell);
  });
  table.addEventListener("keydown", (event) => {
    const [y, x] = at;
    const width = rows[y].length;
    const moves = {
      ArrowUp: [y - 1, x], ArrowDown: [y + 1, x], ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1],
      Home: [event.ctrlKey ? 0 : y, 0], End: [event.ctrlKey ? rows.length - 1 : y, width - 1],
      PageUp: [Math.max(0, y - 10), x], PageDown: [Math.min(rows.length - 1, y + 10), x],
    };
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); openCell(rows[y][x]); }
    else if (moves[event.key]) { event.preventDefault(); enter(...moves[event.key], true); }
  });
}

/* transcripts */
async function unpacked() {
  const packed = atob($("data").textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* The first difference of two texts, as a range that covers one word; null where they are equal. */
function firstDifference(a, b) {
  if (a === b) return null;
  let i = 0;
  const most = Math.min(a.length, b.length);
  while (i < most && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  if (i > 0 && a.charCodeAt(i - 1) >= 0xd800 && a.charCodeAt(i - 1) <= 0xdbff) i -= 1;
  return i;
}
function wordFrom(text, start) {
  const rest = text.slice(start, start + 40);
  const word = /^(\s*\S+|\s+)/u.exec(rest);
  return [start, start + (word ? word[0].length : rest.length)];
}

class Viewer {
  constructor(data) {
    Object.assign(this, { data, found: [], shown: 0, current: null, chosen: [] });
    const flips = new Map();
    data.groups.forEach(([name, items]) => items.forEach((item) => flips.set(item, name)));
    this.entries = [];
    for (const [name, items] of data.groups) {
      for (const item of items) {
        const repeats = new Set();
        data.sides.forEach((side) => (side.trials[item] || []).forEach((trial) => repeats.add(trial.repeat)));
        for (const repeat of [...repeats].sort((a, b) => a - b)) this.entries.push({ item, repeat, flip: name, trials: data.sides.map((side) => (side.trials[item] || []).find((trial) => trial.repeat === repeat) || null) });
      }
    }
    const all = (of) => [...new Set(this.entries.flatMap(of))].filter(Boolean).sort();
    const trialsOf = (entry) => entry.trials.filter(Boolean);
    this.fill("dimension", all((entry) => [data.items[entry.item].dimension]));
    this.fill("outcome", all((entry) => trialsOf(entry).map((trial) => trial.outcome)));
    this.fill("reason", all((entry) => trialsOf(entry).map((trial) => trial.reason)));
    this.fill("flip", data.groups.map(([name]) => name));
    this.fill("defect", all((entry) => trialsOf(entry).flatMap((trial) => (trial.defects || []).map(([kind]) => kind))));
    const form = $("filters");
    form.hidden = false;
    $("viewer").hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => this.filter(), 0));
    let waiting = 0;
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => this.filter(), 120); });
    $("more").addEventListener("click", () => { const at = this.shown; this.grow(); $("list").children[at].firstChild.focus(); });
    $("list").addEventListener("keydown", (event) => this.listKey(event));
    this.filter();
    if (this.entries.length) this.open(this.entries[0].item, this.entries[0].repeat, 0, false);
  }

  text(number) { return number === undefined || number === null ? "" : this.data.texts[number]; }

  fill(name, values) { for (const value of values) { const option = element("option", value.replaceAll("_", " ")); option.value = value; $("f-" + name).append(option); } }

  filter() {
    const [dimension, outcome, reason, flip, defect] = ["dimension", "outcome", "reason", "flip", "defect"].map((name) => $("f-" + name).value);
    const sought = $("f-text").value.toLowerCase();
    const fits = new Map();
    const contains = (number) => {
      if (number === undefined || number === null) return false;
      if (!fits.has(number)) fits.set(number, this.data.texts[number].toLowerCase().includes(sought));
      return fits.get(number);
    };
    const trialFits = (trial) => trial && (!outcome || trial.outcome === outcome) && (!reason || trial.reason === reason) && (!defect || (trial.defects || []).some(([kind]) => kind === defect));
    const textFits = (entry, trial) => !sought || entry.item.toLowerCase().includes(sought) || contains(this.data.items[entry.item].prompt)
      || (trial.detail || "").toLowerCase().includes(sought) || ["answer", "reasoning", "extracted"].some((name) => contains(trial[name]));
    this.found = this.entries.filter((entry) => (!dimension || this.data.items[entry.item].dimension === dimension) && (!flip || entry.flip === flip)
      && entry.trials.some((trial) => trialFits(trial) && textFits(entry, trial)));
    this.shown = 0;
    $("list").replaceChildren();
    $("list").scrollTop = 0;
    $("count").textContent = `${this.found.length} of ${this.entries.length} answers (item and repeat)`;
    this.grow();
  }

  grow() {
    for (const entry of this.found.slice(this.shown, this.shown + PAGE)) {
      const button = element("button");
      button.type = "button";
      button.append(element("span", `${entry.item} · ${entry.repeat}`));
      const letters = entry.trials.map((trial) => LETTERS[trial ? trial.outcome : "missing"]).join("");
      const marks = element("span", letters, "letters");
      button.append(marks);
      button.title = entry.trials.map((trial, side) => `${this.data.sides[side].name}: ${trial ? trial.outcome : "missing"}`).join(", ");
      button.addEventListener("click", () => this.open(entry.item, entry.repeat, 0, false));
      if (this.current && this.current.item === entry.item && this.current.repeat === entry.repeat) button.setAttribute("aria-current", "true");
      const row = element("li");
      row.append(button);
      $("list").append(row);
    }
    this.shown = Math.min(this.found.length, this.shown + PAGE);
    $("more").hidden = this.shown >= this.found.length;
    $("more").textContent = `Show more (${this.found.length - this.shown})`;
  }

  listKey(event) {
    const row = event.target.closest("li");
    if (!row) return;
    const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: row.parentNode.firstChild, End: row.parentNode.lastChild }[event.key];
    if (next) { event.preventDefault(); next.firstChild.focus(); }
  }

  /* Show an item's answer; the chosen configuration stands left, unless it is the second, which stands right. */
  open(item, repeat, side, move) {
    const sides = this.data.sides;
    const entry = this.entries.find((each) => each.item === item && each.repeat === repeat) || this.entries.find((each) => each.item === item);
    if (!entry) return;
    this.current = { item, repeat };
    this.chosen = sides.length === 1 ? [[0, repeat]] : side === 0 ? [[0, repeat], [1, repeat]] : [[0, repeat], [side, repeat]];
    this.draw(entry);
    for (const button of $("list").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const place = this.found.indexOf(entry);
    if (place >= 0 && place < this.shown) $("list").children[place].firstChild.setAttribute("aria-current", "true");
    if (move) { $("transcripts").scrollIntoView(); $("reading").focus({ preventScroll: true }); }
  }

  draw(entry) {
    const item = this.data.items[entry.item];
    const reading = $("reading");
    reading.replaceChildren();
    reading.append(element("h3", entry.item), element("p", `${item.dimension.replaceAll("_", " ")}, ${entry.flip}`, "quiet"));
    const question = element("div", null, "asked");
    question.append(fold("What was asked", block(this.text(item.prompt), "What was asked")));
    if (item.gold !== undefined && item.gold !== null) {
      const gold = element("details");
      gold.open = true;
      gold.append(element("summary", "What is right (the scorer's parameters)"), block(this.text(item.gold), "What is right"));
      if (this.text(item.why)) { const why = element("p", null, "quiet"); showText(why, this.text(item.why)); gold.append(why); }
      question.append(gold);
    } else question.append(element("p", "What is right is not known here: the bank of this run is not at hand, or has changed.", "quiet"));
    reading.append(question);
    const pair = element("div", null, this.chosen.length > 1 ? "pair" : "pair single");
    const trials = this.chosen.map(([side, repeat]) => (this.data.sides[side].trials[entry.item] || []).find((trial) => trial.repeat === repeat) || null);
    const texts = trials.map((trial) => (trial ? this.text(trial.answer) : ""));
    let start = null;
    if (trials.length > 1 && trials[0] && trials[1]) {
      start = firstDifference(texts[0], texts[1]);
      reading.append(element("p", start === null ? "The two answers are equal, character for character." : `First difference at character ${start + 1}, marked.`, "difference"));
    }
    trials.forEach((trial, column) => pair.append(this.answer(entry, trial, column, texts[column], start)));
    reading.append(pair);
  }

  answer(entry, trial, column, text, start) {
    const holder = element("div", null, "answer");
    const choose = element("div", null, "choose");
    const side = element("select");
    side.setAttribute("aria-label", `Configuration, answer ${column + 1}`);
    this.data.sides.forEach((each, place) => { const option = element("option", each.name); option.value = place; side.append(option); });
    side.value = this.chosen[column][0];
    const repeat = element("select");
    repeat.setAttribute("aria-label", `Repeat, answer ${column + 1}`);
    (this.data.sides[this.chosen[column][0]].trials[entry.item] || []).forEach((each) => { const option = element("option", `repeat ${each.repeat}`); option.value = each.repeat; repeat.append(option); });
    repeat.value = this.chosen[column][1];
    const redraw = (which) => { this.chosen[column] = [Number(side.value), Number(repeat.value) || 1]; this.draw(entry); $("reading").querySelectorAll(".answer")[column].querySelectorAll("select")[which].focus(); };
    side.addEventListener("change", () => redraw(0));
    repeat.addEventListener("change", () => redraw(1));
    choose.append(side, repeat);
    holder.append(choose);
    if (!trial) { holder.append(element("p", "Not asked in this repeat.", "quiet")); return holder; }
    const outcome = element("p");
    outcome.append(element("span", `${LETTERS[trial.outcome]} ${trial.outcome}`, `outcome ${trial.outcome[0]}`), trial.reason ? ` ${trial.reason}` : "");
    holder.append(outcome);
    const facts = element("dl");
    const fact = (name, value) => { if (value === undefined || value === null || value === "") return; const shown = element("dd"); showText(shown, String(value)); facts.append(element("dt", name), shown); };
    fact("extracted", this.text(trial.extracted));
    fact("detail", trial.detail);
    (trial.defects || []).forEach(([kind, evidence]) => fact(kind.replaceAll("_", " "), evidence));
    fact("finish", trial.finish);
    fact("tokens", trial.tokens);
    fact("seconds", trial.seconds);
    holder.append(facts, block(text, `Answer of ${this.data.sides[this.chosen[column][0]].name}`, start === null ? null : wordFrom(text, start)));
    if (trial.reasoning !== undefined) holder.append(fold("Reasoning, reported apart", block(this.text(trial.reasoning), "Reasoning")));
    if (trial.raw !== undefined) holder.append(fold("Raw reply", block(this.text(trial.raw), "Raw reply")));
    return holder;
  }
}
if ($("data")) {
  unpacked().then((data) => { viewer = new Viewer(data); root.dataset.ready = "yes"; }, () => { $("count").textContent = "The transcripts in this file are damaged, or the browser is too old to read them."; });
} else root.dataset.ready = "yes";
