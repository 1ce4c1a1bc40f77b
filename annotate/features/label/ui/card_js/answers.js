// ---- answers -------------------------------------------------------------------------------------------------------

function act(s, name) {
  if (name === "undo") undo(s)
  else if (name === "differences") toggleDifferences(s)
  else if (name === "larger") resize(s, 1.15)
  else if (name === "smaller") resize(s, 1 / 1.15)
  else if (name === "help") openKeys(s)
  else if (name === "note") writeNote(s)
  else if (name === "guidelines") toggleGuidelines(s)
  else if (!s.buffer.length) miss(s)
  else if (performance.now() < s.guardUntil || isRenamed(s)) return
  else if (s.view.grouped) answerGroup(s, name)
  else answer(s, name)
}

// The sidebar names somebody else already, whose card is on its way.
function isRenamed(s) {
  const field = document.querySelector(".st-key-chosen_annotator input")
  return field !== null && field.value !== s.view.annotator
}

// A key that falls on an empty card answers nothing, and the card says so.
function miss(s) {
  s.missed += 1
  draw(s)
}

function answer(s, name) {
  const pair = s.buffer.shift()
  record(s, pair, name, secondsOnScreen(s))
  settleDown(s)
}

function record(s, pair, name, seconds, group = null) {
  const note = s.notes.get(pair.id) ?? ""
  s.writing = null
  s.undo.push({ pair, answer: name, note, group })
  if (seconds !== null) s.paces.push(Math.min(seconds, s.view.idle))
  append(s, pair, name, seconds, note)
}

// Undo retracts the last answer, or all answers of a group that were given at once.
function undo(s) {
  const last = s.undo.at(-1)
  if (!last || isRenamed(s)) return
  s.writing = null
  const together = last.group ? s.undo.filter((entry) => entry.group === last.group).length : 1
  for (const { pair, answer, note } of s.undo.splice(-together).reverse()) {
    s.buffer.unshift({ ...pair, undone: true })
    if (note) s.notes.set(pair.id, note)
    if (answer === "positive" || answer === "unsure") s.marks.set(pair.id, answer)
    append(s, pair, "retract", null, "")
  }
  settleDown(s)
}

function append(s, pair, name, seconds, note) {
  const event = { key: newKey(s), task_id: pair.id, answer: name, seconds, note, at: momentAfter(s.log.at(-1)), n: s.serial }
  s.pairs.set(pair.id, pair)
  s.missed = 0
  s.log.push(event)
  keep(s.prefix + event.key, JSON.stringify(event))
  tellAnswer(s, pair.id, name)
}

// Answers that are not stored yet are sorted by time when a page opens: a clock that is set back must not change their order.
function momentAfter(last) {
  return new Date(Math.max(Date.now(), last ? Date.parse(last.at) : 0)).toISOString()
}

function settleDown(s) {
  draw(s)
  send(s)
}

function secondsOnScreen(s) {
  return Math.round(performance.now() - s.shownAt) / 1000
}

function newKey(s) {
  // crypto.randomUUID is missing unless the page comes from https or localhost.
  const random = crypto.getRandomValues(new Uint32Array(3))
  s.serial += 1
  return `${Date.now().toString(36)}-${s.serial}-${Array.from(random, (x) => x.toString(36)).join("")}`
}

// One message at a time, always with the whole log. Answers given meanwhile go with the next one. The server leaves out the
// texts of pairs, and the guidelines, that this browser has.
function send(s, evenIfEmpty = false) {
  if ((!s.log.length && !evenIfEmpty) || performance.now() - s.sentAt < RETRY) return
  s.sentAt = performance.now()
  s.attempt += 1
  const has = [...s.buffer, ...s.waiting].map((pair) => pair.id)
  s.emit({ attempt: s.attempt, events: s.log, has, guidelines: s.guidelines?.version ?? "" })
}

// ---- notes -----------------------------------------------------------------------------------------------------------

function writeNote(s) {
  if (!s.buffer.length || s.view.grouped) return
  s.writing = s.buffer[0].id
  drawNote(s)
  focusNote(s)
}

// What was typed stays in front of the caret.
function focusNote(s) {
  const field = s.root.querySelector(".note textarea")
  field.focus()
  field.setSelectionRange(field.value.length, field.value.length)
}

function onNote(s, event) {
  const id = s.buffer[0]?.id
  if (id === undefined) return
  s.writing = id
  keepShort(s, event.target)
  s.notes.set(id, event.target.value)
}

// Cuts the note after the last character that fits, and says how many are left out.
function keepShort(s, field) {
  const most = s.view.longest_note, whole = field.value
  const fitting = whole.slice(0, most).replace(/[\ud800-\udbff]$/, "")
  if (fitting !== whole) field.value = fitting
  const cut = s.root.querySelector(".note-cut")
  cut.hidden = fitting === whole
  cut.textContent = cut.hidden ? "" : t("A note holds {most} characters: the last {n} were left out.", { most, n: whole.length - fitting.length })
}

// Enter keeps the note, Escape discards it; after both, keys answer again. Until then letters are the note's, however the
// focus left it: by a click beside it, or since the page was drawn anew.
function onNoteKey(s, event) {
  if (event.key !== "Escape" && !(event.key === "Enter" && !event.shiftKey)) return
  event.preventDefault()
  event.stopPropagation()
  if (event.key === "Escape") s.notes.delete(s.buffer[0]?.id)
  s.writing = null
  event.target.blur()
  draw(s)
}

function onNoteLeft(s, event) {
  if (!event.target.value && event.target.isConnected && document.hasFocus()) s.writing = null
  drawNote(s)
}

// ---- one left text, several candidates --------------------------------------------------------------------------------

const MOST_CANDIDATES = 9 // as many as there are digits

function candidates(s) {
  const asked = textOf(s.buffer[0])
  return s.buffer.filter((pair) => textOf(pair) === asked).slice(0, MOST_CANDIDATES)
}

function textOf(pair) {
  return pair && runsOf(pair, "left").map(([text]) => text).join("")
}

function mark(s, number, name = "positive") {
  const pair = candidates(s)[number - 1]
  if (!pair || performance.now() < s.guardUntil || isRenamed(s)) return
  if (s.marks.get(pair.id) === name) s.marks.delete(pair.id)
  else s.marks.set(pair.id, name)
  draw(s)
}

// "submit" stores the marks, and no for the others; "negative" and "skip" apply to all. A key that marks all candidates
// as matches would be pressed by mistake.
function answerGroup(s, name) {
  if (!["submit", "negative", "skip"].includes(name)) return
  const group = candidates(s)
  const seconds = Math.round((1000 * secondsOnScreen(s)) / group.length) / 1000
  s.groups = (s.groups ?? 0) + 1
  s.buffer = s.buffer.filter((pair) => !group.includes(pair))
  for (const pair of group) {
    const marked = s.marks.get(pair.id) ?? "negative"
    s.marks.delete(pair.id)
    record(s, pair, name === "submit" ? marked : name, seconds, s.groups)
  }
  settleDown(s)
}
