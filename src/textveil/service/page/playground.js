"use strict";
// The playground: it sends a text and settings to the service, and shows what became of every chunk.
// It keeps the text in memory only. The address of the page holds the settings, never the text.

const EXAMPLE =
  "The soup was cold and the waiter, a certain Mr Grzybowski, was rude to my daughter. We paid 86 dollars for two small " +
  "plates. But the music was lovely, and the view over New York City at night is worth the trip.";
const ALTERNATIVES = 6;
const REST = 500; // milliseconds without a movement, after which the slider rests
const FIELDS = {
  profile: "Profile",
  decomposition: "Decomposition",
  distribution: "Distribution",
  mechanism: "Mechanism",
  form: "Form",
  identifiers: "Identifiers",
};
const NAMES = ["level", "epsilon_per_word", ...Object.keys(FIELDS)];
const PLACES = { epsilon: "epsilon_per_word", level: "epsilon_per_word", texts: "text", stopwords: "profile", draft_share: "decomposition" };
const OUTCOMES = {
  perturbed: "perturbed",
  drawn: "drawn without its meaning",
  redacted: "identifier, redacted",
  kept_stopword: "stopword, kept",
  kept_unknown: "in clear: unknown word",
  kept_no_share: "in clear: no share",
};
const DOCUMENT_OUTCOMES = {
  returned: "Every word came back unchanged. Choose a smaller epsilon.",
  only_stopwords: "The text has only stopwords, which are kept.",
  no_words: "The text has no words.",
};

const find = (selector, inside = document) => inside.querySelector(selector);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const percent = (value) => (value >= 0.1 ? Math.round(value * 100) : Number((value * 100).toPrecision(value < 0.0001 ? 1 : 2))) + " %";
const short = (value) => String(Number(value.toPrecision(4)));

// ---- state ----------------------------------------------------------------------------------------------------------

let methods = null; // what GET /methods answers
let token = "";
const sides = {}; // "a" and, while two settings are compared, "b"
const meanings = new Map(); // promises of curves, by profile, mechanism and decomposition
const spent = { text: null, results: 0, total: 0, unbounded: false };
let waiting = 0; // draws that are not finished

const sideNames = () => Object.keys(sides);
const isComparing = () => "b" in sides;

// ---- the service ----------------------------------------------------------------------------------------------------

class Problem extends Error {
  constructor(status, { error, kind, parameters = [] }) {
    super(error.replaceAll("`", ""));
    Object.assign(this, { status, kind, parameters });
  }
}

async function call(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Problem(0, { error: "The server does not answer. Is it still running?", kind: "ConnectionError" });
  }
  const content = await answer.json();
  if (answer.ok) return content;
  if (answer.status === 401) askForToken();
  throw new Problem(answer.status, content);
}

function askForToken() {
  find("#token-form").hidden = false;
  find("#token-error").textContent = token ? "The token is wrong." : "";
  find("#token").focus();
}

// ---- settings, and the link that restores them ------------------------------------------------------------------------

// What a request says. At a level, the epsilon is only shown.
function chosen(side) {
  const given = ([name, value]) => value !== null && value !== "" && !(name === "epsilon_per_word" && side.settings.level);
  return Object.fromEntries(Object.entries(side.settings).filter(given));
}

function readLink() {
  const found = {};
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    const [name, field] = key.split(".");
    if (!["a", "b"].includes(name) || !NAMES.includes(field)) continue;
    const number = Number(value);
    if (field === "epsilon_per_word" ? number > 0 && number < 1e6 : choices(field).some(([choice]) => choice === value))
      (found[name] ??= {})[field] = field === "epsilon_per_word" ? number : value;
  }
  return found;
}

function writeLink() {
  const parts = new URLSearchParams();
  for (const name of sideNames()) for (const [field, value] of Object.entries(chosen(sides[name]))) parts.set(`${name}.${field}`, value);
  history.replaceState(null, "", `#${parts}`);
}

function choices(field) {
  if (field === "level") return methods.levels.map(({ name }) => [name, name]);
  if (field === "profile") return methods.profiles.map(({ name }) => [name, name]);
  if (field === "form") {
    const forms = [...new Set(methods.profiles.flatMap((profile) => profile.forms ?? []))];
    return forms.length ? [["", "as the profile"], ...forms.map((form) => [form, form])] : [];
  }
  if (field === "identifiers") {
    const listed = methods.identifiers.map((name) => [name, name]);
    return methods.defaults.identifiers ? listed : [["", "not looked for"], ...listed];
  }
  const listed = methods[`${field}s`].map(({ name, loaded }) => [name, field === "distribution" && !loaded ? `${name} (loads first)` : name]);
  return methods.defaults[field] ? listed : [["", "automatic"], ...listed];
}

function explain(field, value) {
  if (field === "profile") return methods.profiles.find(({ name }) => name === value)?.claim ?? "";
  return methods[`${field}s`]?.find(({ name }) => name === value)?.description ?? "";
}

function addSide(name, settings) {
  const panel = find("#setting").content.firstElementChild.cloneNode(true);
  const side = (sides[name] = { name, panel, settings, slider: find("input", panel), answer: null, changed: null, curve: null });
  side.slider.id = `epsilon-${name}`;
  find(".epsilon-label", panel).htmlFor = side.slider.id;
  find(".meaning", panel).id = `meaning-${name}`;
  settings.level ??= settings.epsilon_per_word ? "" : methods.defaults.level;
  for (const [value, label] of [...choices("level"), ["", "own epsilon"]]) addLevel(side, value, label);
  for (const field of Object.keys(FIELDS)) addField(side, field);
  for (const line of all("[data-error]", panel)) line.id = `${line.dataset.error}-error-${name}`;
  side.slider.setAttribute("aria-describedby", `meaning-${name} epsilon_per_word-error-${name}`);
  side.slider.addEventListener("input", () => {
    settings.epsilon_per_word = Number(side.slider.value);
    settings.level = "";
    showEpsilon(side);
    find("#columns").setAttribute("aria-busy", "true"); // the result is no longer that of the settings
    clearTimeout(side.pause);
    side.pause = setTimeout(() => sides[name] === side && changed(side, "epsilon_per_word"), REST);
  });
  find("#panels").append(panel);
  showEpsilon(side);
  return side;
}

function addLevel(side, value, label) {
  const input = make("input", { type: "radio", name: `level-${side.name}`, value });
  input.addEventListener("change", () => {
    side.settings.level = value;
    if (!value) side.settings.epsilon_per_word = Number(side.slider.value);
    changed(side, "epsilon_per_word");
  });
  find(".levels", side.panel).append(make("label", {}, input, ` ${label}`));
}

function addField(side, field) {
  const listed = choices(field);
  if (!listed.length) return;
  const id = `${field}-${side.name}`;
  const select = make("select", { id, "data-name": field, "aria-describedby": `${field}-error-${side.name}` });
  for (const [value, label] of listed) select.append(make("option", { value }, label));
  select.value = side.settings[field] ??= methods.defaults[field] ?? "";
  select.title = explain(field, select.value);
  select.addEventListener("change", () => {
    side.settings[field] = select.value;
    select.title = explain(field, select.value);
    changed(side, field);
  });
  const error = make("p", { class: "error", "data-error": field, role: "alert" });
  find(".methods", side.panel).append(make("div", { class: "field" }, make("label", { for: id }, FIELDS[field]), select, error));
}

function changed(side, field) {
  side.changed = field;
  writeLink();
  if (["profile", "mechanism", "decomposition"].includes(field)) loadMeaning(side);
  else showEpsilon(side);
  draw([side.name]);
}

// ---- the meaning of an epsilon ----------------------------------------------------------------------------------------

async function loadMeaning(side) {
  const { profile, mechanism, decomposition } = chosen(side);
  const given = Object.entries({ profile, mechanism, decomposition }).filter(([, value]) => value);
  const query = new URLSearchParams(given).toString();
  side.query = query;
  side.curve = null;
  side.reason = "What this means is being computed. The first time, it takes a while.";
  showEpsilon(side);
  if (!meanings.has(query)) meanings.set(query, call(`/meaning?${query}`));
  try {
    const curve = await meanings.get(query);
    if (side.query === query) side.curve = curve;
  } catch (problem) {
    meanings.delete(query);
    if (side.query === query) side.reason = problem.status === 503 ? "What this means is not computed yet." : "What this means is not known for these methods.";
    if (problem.status === 503) setTimeout(() => side.query === query && sides[side.name] === side && loadMeaning(side), 15000);
  }
  if (side.query === query) showEpsilon(side);
}

function interpolate(points, epsilon, name) {
  const before = points.findLast((point) => point.epsilon_per_word <= epsilon) ?? { ...points[0], epsilon_per_word: 0 };
  const after = points.find((point) => point.epsilon_per_word > epsilon) ?? before;
  const width = after.epsilon_per_word - before.epsilon_per_word;
  return width ? before[name] + ((after[name] - before[name]) * (epsilon - before.epsilon_per_word)) / width : before[name];
}

function showEpsilon(side) {
  const { slider, panel, curve, settings } = side;
  const epsilon = settings.epsilon_per_word ?? 10;
  const largest = curve ? curve.points.at(-1).epsilon_per_word : Math.max(60, epsilon);
  slider.step = largest < 5 ? 0.01 : 0.1;
  slider.min = slider.step;
  slider.max = Math.max(largest, epsilon);
  slider.value = epsilon;
  find("output", panel).textContent = short(Number(epsilon.toFixed(2)));
  for (const input of all(".levels input", panel)) input.checked = input.value === (settings.level ?? "");
  find(".level", panel).textContent = methods.levels.find(({ name }) => name === settings.level)?.description ?? "";
  const text = find(".meaning", panel);
  const svg = find("svg", panel);
  svg.classList.toggle("empty", !curve);
  if (!curve) {
    text.textContent = side.reason ?? "";
    slider.setAttribute("aria-valuetext", `${short(epsilon)} per word; smaller is more private`);
    for (const shape of all("polygon", svg)) shape.removeAttribute("points");
  } else {
    const limit = settings.profile === "paper" ? Infinity : curve.largest_share ?? Infinity;
    const [stays, guessed] = ["stays", "guessed"].map((name) => interpolate(curve.points, Math.min(epsilon, limit), name));
    const words = (value) => (value < 0.005 ? "hardly any" : `about ${Math.round(value * 100)}`);
    const small = ["Words of the vocabulary by their frequency, one at a time. In whole texts, more return."];
    if (epsilon > limit) small.push(`Above ${short(limit)}, nothing changes: larger shares are cut to it.`);
    if (settings.distribution && settings.distribution !== "uniform") small.push("Averages over words with an equal share.");
    text.replaceChildren(
      "Of 100 single words, ", make("strong", {}, words(stays)), " stay as they are. An attacker who knows the method guesses ",
      make("strong", {}, words(guessed)), ".", make("small", {}, small.join(" ")),
    );
    slider.setAttribute("aria-valuetext", `${short(epsilon)} per word; smaller is more private. Of 100 single words, ${words(stays)} stay, and ${words(guessed)} are guessed`);
    for (const name of ["stays", "guessed"]) {
      const drawn = curve.points.map((point) => {
        const value = interpolate(curve.points, Math.min(point.epsilon_per_word, limit), name);
        return `${(100 * point.epsilon_per_word) / slider.max},${40 - 40 * value}`;
      });
      find(`.${name}`, svg).setAttribute("points", `0,40 0,${40 - 40 * curve.points[0][name]} ${drawn.join(" ")} 100,${drawn.at(-1).split(",")[1]} 100,40`);
    }
  }
  const here = find(".here", svg);
  for (const end of ["x1", "x2"]) here.setAttribute(end, (100 * (epsilon - slider.min)) / (slider.max - slider.min));
}

// ---- drawing ----------------------------------------------------------------------------------------------------------

async function draw(names = sideNames()) {
  waiting += 1;
  const text = find("#text").value;
  find("#columns").setAttribute("aria-busy", "true");
  if (text !== spent.text) {
    Object.assign(spent, { text, results: 0, total: 0, unbounded: false });
    names = sideNames(); // a result of another text must not stay
  }
  try {
    await Promise.all(names.map((name) => drawSide(sides[name], text)));
  } finally {
    waiting -= 1;
  }
  if (waiting) return;
  find("#columns").setAttribute("aria-busy", "false");
  showAll();
}

async function drawSide(side, text) {
  const number = (side.number = (side.number ?? 0) + 1); // so that an old answer never replaces a new one
  clearTimeout(side.pause);
  try {
    const answer = await call("/obfuscate", { ...chosen(side), text, alternatives: ALTERNATIVES });
    count(answer, text);
    if (number !== side.number) return;
    Object.assign(side, { answer, text });
    clearErrors(side);
    if (side.settings.level) {
      side.settings.epsilon_per_word = answer.certificate.budget.epsilon_per_word;
      showEpsilon(side);
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (number !== side.number) return;
    side.answer = null;
    showError(side, problem);
  }
}

function count(answer, text) {
  if (text !== spent.text || !answer.chunks?.length) return;
  spent.results += 1;
  spent.total += answer.certificate.budget.largest_spent;
  const { words } = answer.certificate;
  spent.unbounded ||= words.kept_unknown + words.kept_no_share > 0 || answer.certificate.mechanism.guarantee === "none";
}

function clearErrors(side) {
  for (const line of [...all("[data-error]", side.panel), find("#text-error")]) line.textContent = "";
  for (const control of [...all("[data-name]", side.panel), find("#text")]) control.removeAttribute("aria-invalid");
}

function showError(side, problem) {
  clearErrors(side);
  const named = problem.parameters.map((name) => PLACES[name] ?? name.replace(/_options$/, ""));
  if (problem.kind === "SizeError") named.unshift("text");
  const fits = (name) => name && (name === "text" || find(`[data-error="${name}"]`, side.panel));
  const unnamed = [422, 501].includes(problem.status) ? side.changed : null;
  const place = (named.includes(side.changed) && side.changed) || [...named, unnamed].find(fits) || "general";
  const line = place === "text" ? find("#text-error") : find(`[data-error="${place}"]`, side.panel);
  line.textContent = problem.message;
  (place === "text" ? find("#text") : find(`[data-name="${place}"]`, side.panel))?.setAttribute("aria-invalid", "true");
}

// ---- the texts side by side -------------------------------------------------------------------------------------------

const WORD = /[\p{L}\p{N}\p{M}_]/u;

// Where each piece stands in a text, in order; null if one is not there.
function locate(text, pieces) {
  const found = [];
  const fold = (part) => part.toLowerCase().replaceAll("’", "'"); // forms write words in their own case
  const folds = fold(text).length === text.length;
  const haystack = folds ? fold(text) : text;
  let from = 0;
  for (const piece of pieces) {
    const start = haystack.indexOf(folds ? fold(piece) : piece, from);
    if (start < 0 || WORD.test(text.slice(from, start))) return null;
    from = start + piece.length;
    found.push([start, from]);
  }
  return found;
}

// Offsets at which a new line begins: after a sentence, or a line of the text.
function findLines(text) {
  const starts = [0];
  for (const match of text.matchAll(/[.!?]["'’”)\]]*\s+(?=["'‘“([]*\p{Lu})|\n+/gu)) starts.push(match.index + match[0].length);
  return starts;
}

function arrange(side, lines) {
  const { answer, text } = side;
  const chunks = answer.chunks ?? [];
  const originals = locate(text, chunks.map((chunk) => chunk.chunk));
  const results = locate(answer.text, chunks.map((chunk) => chunk.replacement ?? chunk.chunk));
  if (!originals || !results) return null;
  return { chunks, originals, results, lines: originals.map(([start]) => lines.findLastIndex((line) => line <= start)) };
}

function showAll() {
  writeLink();
  hideCard();
  const columns = find("#columns");
  const ready = sideNames().map((name) => sides[name]).filter((side) => side.answer);
  columns.replaceChildren();
  columns.className = `columns ${isComparing() ? "three" : "two"}`;
  if (ready.length) {
    const lines = findLines(ready[0].text);
    for (const side of ready) side.arranged = arrange(side, lines);
    const used = [...new Set(ready.flatMap((side) => side.arranged?.lines ?? [0]))].sort((one, other) => one - other);
    addColumn(columns, "Original", ready[0], used, "original");
    for (const side of ready) addColumn(columns, isComparing() ? `Result of setting ${side.name.toUpperCase()}` : "Result", side, used, "result");
  }
  showSpent();
  showDetails();
  const told = ready.map((side) => DOCUMENT_OUTCOMES[side.answer.outcome] ?? `${isComparing() ? `Setting ${side.name.toUpperCase()}: ` : ""}${side.answer.text}`);
  find("#status").textContent = told.join(" ");
}

function addColumn(columns, title, side, used, kind) {
  const heading = make("h3", {}, title);
  const label = `${title}. The arrow keys move from word to word.`;
  const column = make("div", { class: `column ${kind}`, role: "group", "aria-label": label, "data-side": side.name }, heading);
  column.style.gridRow = `1 / span ${used.length + 1}`;
  const text = kind === "original" ? side.text : side.answer.text;
  if (kind === "result") {
    const copying = make("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
    copying.addEventListener("click", () => copy(text, copying));
    heading.append(copying);
  }
  if (!side.arranged || !side.arranged.chunks.length) column.append(make("p", { class: "line" }, text));
  else for (const line of used) column.append(writeLine(side, kind, text, line));
  if (kind === "result" && side.answer.outcome in DOCUMENT_OUTCOMES)
    column.append(make("p", { class: "hint" }, DOCUMENT_OUTCOMES[side.answer.outcome]));
  const first = find(".chunk", column);
  if (first) first.tabIndex = 0;
  columns.append(column);
}

function writeLine(side, kind, text, line) {
  const { chunks, originals, results, lines } = side.arranged;
  const places = kind === "original" ? originals : results;
  const most = Math.max(...chunks.map((chunk) => chunk.share + (chunk.draft_share ?? 0))) || 1;
  const paragraph = make("p", { class: "line" });
  chunks.forEach((chunk, index) => {
    if (lines[index] !== line) return;
    const [start, stop] = places[index];
    const element = make("span", { class: `chunk ${chunk.outcome}`, role: "button", tabindex: "-1" }, text.slice(start, stop));
    element.style.setProperty("--share", (chunk.share + (chunk.draft_share ?? 0)) / most);
    if (kind === "result" && chunk.replacement?.toLowerCase() === chunk.chunk.toLowerCase()) element.classList.add("returned");
    element.shown = { side, chunk, range: originals[index] };
    if (index === 0) paragraph.append(text.slice(0, start));
    const gap = text.slice(stop, places[index + 1]?.[0] ?? text.length);
    paragraph.append(element, lines[index + 1] === line ? gap : gap.trimEnd());
  });
  return paragraph;
}

function showSpent() {
  const { results, total, unbounded } = spent;
  const several = `${results} results of this text so far. Publish one of them: all together would spend ${short(total)}.`;
  const one = `This result spends ${short(total)} of epsilon. Each further result of the same text spends its own.`;
  const caution = unbounded ? " Words in clear and mechanisms without a guarantee are not covered by any epsilon." : "";
  find("#spent").textContent = results ? (results > 1 ? several : one) + caution : "";
}

// ---- the card of a chunk ----------------------------------------------------------------------------------------------

const card = find("#card");
let shownChunk = null;

function showCard(element) {
  if (element === shownChunk) return;
  hideCard();
  shownChunk = element;
  const { side, chunk, range } = element.shown;
  const became = chunk.replacement ?? chunk.chunk;
  const change = make("p", { class: "change" }, chunk.chunk, " → ", make("span", {}, became));
  const facts = make("dl");
  const add = (name, value) => value !== null && value !== undefined && facts.append(make("dt", {}, name), make("dd", {}, value));
  add("Outcome", OUTCOMES[chunk.outcome] ?? chunk.outcome);
  add("Share of the budget", short(chunk.share));
  if (chunk.draft) add("Draft", `${chunk.draft}, for ${short(chunk.draft_share)}`);
  add(chunk.scores.length > 1 ? "Scores" : "Score", chunk.scores.map((score) => (score === null ? "none" : short(score))).join(", "));
  if (chunk.probability !== null) add("Probability of this result", percent(chunk.probability));
  if (chunk.stays !== null) add("Probability to stay", percent(chunk.stays));
  card.replaceChildren(change, facts);
  if (chunk.alternatives) {
    const others = chunk.alternatives.filter(({ replacement }) => replacement !== chunk.replacement).slice(0, ALTERNATIVES - 1);
    const list = make("ol");
    for (const { replacement, probability } of others) {
      const item = make("li", {}, make("span", {}, replacement), make("span", {}, percent(probability)));
      item.style.setProperty("--part", probability);
      list.append(item);
    }
    card.append(make("h4", {}, "Most probable others"), list);
  } else if (chunk.replacement !== null && chunk.outcome !== "redacted") {
    const why = chunk.draft ? "a draft comes first" : `${side.answer.certificate.mechanism.name} has no closed form`;
    card.append(make("p", { class: "hint" }, `Other replacements have no probabilities: ${why}.`));
  }
  for (const other of all(".chunk")) {
    const [start, stop] = other.shown.range;
    other.classList.toggle("linked", start < range[1] && stop > range[0]);
  }
  element.setAttribute("aria-describedby", "card");
  card.hidden = false;
  const place = element.getClientRects()[0];
  const left = Math.min(place.left, document.documentElement.clientWidth - card.offsetWidth - 12);
  const below = place.bottom + card.offsetHeight + 12 < innerHeight || place.top < card.offsetHeight + 12;
  card.style.left = `${Math.max(8, left) + scrollX}px`;
  card.style.top = `${(below ? place.bottom + 8 : place.top - card.offsetHeight - 8) + scrollY}px`;
}

function hideCard() {
  shownChunk?.removeAttribute("aria-describedby");
  for (const linked of all(".chunk.linked")) linked.classList.remove("linked");
  shownChunk = null;
  card.hidden = true;
}

function moveFocus(event) {
  const chunks = all(".chunk", event.target.closest(".column"));
  const index = chunks.indexOf(event.target);
  const next = { ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1, ArrowUp: index - 1, Home: 0, End: chunks.length - 1 }[event.key];
  if (next === undefined || !chunks[next]) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  chunks[next].tabIndex = 0;
  chunks[next].focus();
}

function listenToChunks() {
  const columns = find("#columns");
  const act = (event) => event.target.closest?.(".chunk") && showCard(event.target.closest(".chunk"));
  for (const kind of ["pointerover", "focusin", "click"]) columns.addEventListener(kind, act);
  columns.addEventListener("keydown", (event) => event.target.matches(".chunk") && moveFocus(event));
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideCard());
  document.addEventListener("pointerover", (event) => {
    const inside = event.target.closest?.(".chunk, #card") || document.activeElement === shownChunk;
    if (!inside && event.pointerType === "mouse") hideCard();
  });
  document.addEventListener("click", (event) => event.target.closest(".chunk, #card") || hideCard());
  columns.addEventListener("focusout", (event) => event.relatedTarget?.matches?.(".chunk") || hideCard());
}

// ---- certificate, and settings to take along --------------------------------------------------------------------------

function shownSide() {
  return sides[isComparing() ? find("#side-choice input:checked").value : "a"];
}

function showDetails() {
  const side = shownSide();
  writeSettings(side);
  const panel = find("#panel-words");
  const json = find("#panel-json pre");
  if (!side.answer) {
    panel.replaceChildren(make("p", { class: "hint" }, "There is no result, and so no certificate."));
    json.textContent = "";
    return;
  }
  const { certificate, summary, warnings } = side.answer;
  json.textContent = JSON.stringify(certificate, null, 2);
  const lines = summary.slice(1).map((line) => line.match(/^(\S+(?: \S+)*?)\s{2,}(.*)$/) ?? [line, "", line]);
  const facts = lines.filter(([, name]) => !["profile", "not protected"].includes(name));
  const list = (items) => make("ul", {}, ...items.map((item) => make("li", {}, item)));
  const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  panel.replaceChildren(
    ...warnings.map((warning) => make("p", { class: "warning" }, warning.replaceAll("`", ""))),
    make("h3", {}, "What is claimed"), make("p", {}, sentence(certificate.claim)),
    make("p", {}, `It compares ${certificate.neighbors}.`),
    make("h3", {}, "What is not protected"), list(certificate.not_protected.map(sentence)),
    make("h3", {}, "What happened"), list(facts.map(([, name, value]) => (name ? `${sentence(name)}: ${value}` : value))),
  );
}

function writeSettings(side) {
  const { level, epsilon_per_word: epsilon, ...rest } = chosen(side);
  const [name, value] = level ? ["level", level] : ["epsilon_per_word", epsilon];
  const { bundle } = methods.defaults;
  const settings = { ...(bundle && bundle !== "en" && { bundle }), ...rest };
  const flag = (text) => text.replaceAll("_", "-");
  const flags = Object.entries({ ...settings, [name]: value }).map(([key, each]) => `--${flag(key)} ${each}`);
  const files = ["textveil obfuscate --input texts.csv --output obfuscated.csv", "--certificate certificate.json"];
  find("#panel-command pre").textContent = [...files, ...flags].join(" \\\n  ");
  const named = Object.entries(settings).map(([key, each]) => `    ${key}=${JSON.stringify(each)},\n`);
  find("#panel-python pre").textContent =
    `from textveil import Obfuscator\n\nobfuscator = Obfuscator(\n${named.join("")})\n` +
    `result = obfuscator.obfuscate(text, ${name}=${JSON.stringify(value)})\nprint(result.text)\n`;
  const keys = Object.entries({ ...settings, [name]: value }).map(([key, each]) => `${flag(key)} = ${JSON.stringify(each)}\n`);
  find("#panel-configuration pre").textContent = `[obfuscate]\n${keys.join("")}`;
}

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy";
  }
  find("#status").textContent = button.textContent;
  setTimeout(() => (button.textContent = label), 1500);
}

function listenToTabs(list) {
  const tabs = all("[role=tab]", list);
  const select = (chosenTab) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosenTab));
      tab.tabIndex = tab === chosenTab ? 0 : -1;
      find(`#${tab.getAttribute("aria-controls")}`).hidden = tab !== chosenTab;
    }
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs.at((index + step) % tabs.length);
      select(next);
      next.focus();
    });
  }
}

// ---- two settings -----------------------------------------------------------------------------------------------------

function showTitles() {
  document.body.classList.toggle("comparing", isComparing());
  find("#compare").setAttribute("aria-pressed", String(isComparing()));
  find("#side-choice").hidden = !isComparing();
  for (const name of sideNames()) find("h2", sides[name].panel).textContent = isComparing() ? `Setting ${name.toUpperCase()}` : "Settings";
}

function toggleComparison() {
  if (isComparing()) {
    sides.b.panel.remove();
    delete sides.b;
    showTitles();
    showAll();
  } else {
    addSide("b", { ...sides.a.settings });
    showTitles();
    loadMeaning(sides.b);
    draw(["b"]);
  }
}

// ---- the start --------------------------------------------------------------------------------------------------------

async function start() {
  try {
    methods = await call("/methods");
  } catch (problem) {
    if (problem.status !== 401) find("#text-error").textContent = problem.message;
    return;
  }
  find("#token-form").hidden = true;
  const linked = readLink();
  addSide("a", linked.a ?? {});
  if (linked.b) addSide("b", linked.b);
  showTitles();
  await draw(); // first, because a curve may have to be computed
  sideNames().forEach((name) => loadMeaning(sides[name]));
}

function listen() {
  let pause;
  find("#text").addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => methods && draw(), 600);
  });
  find("#again").addEventListener("click", () => methods && draw());
  find("#compare").addEventListener("click", () => methods && toggleComparison());
  find("#link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
  find("#side-choice").addEventListener("change", showDetails);
  find("#token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    token = find("#token").value.trim();
    start();
  });
  for (const list of all("[role=tablist]")) listenToTabs(list);
  for (const button of all(".copy")) button.addEventListener("click", () => copy(find("pre", button.parentElement).textContent, button));
  listenToChunks();
}

find("#text").value = EXAMPLE;
listen();
start();
