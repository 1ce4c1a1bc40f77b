// The labelling card. It holds the next pairs, shows the following one at once after a key press, and keeps every answer
// in a log (and in localStorage) until the server says that it is stored. The log only grows at its end: undo is an entry.

const KEYS = {
  1: "positive", y: "positive", 2: "negative", n: "negative", 3: "unsure", u: "unsure", s: "skip",
  z: "undo", backspace: "undo", d: "differences", "?": "help", g: "guidelines",
}
const LABELS = new Set(["positive", "negative", "unsure"])
const RETRY = 2000 // ms after which an answer that is not acknowledged is sent again
const STALE = 300_000 // ms after which whoever comes back to the page is served anew, for leases do not last
const UNSEEN = 300 // ms for which keys are ignored when the pair on screen was replaced by one of a newer batch

const sessions = new Map() // by project and annotator: a session outlives the element that Streamlit draws anew

export default function ({ data: [data], parentElement, setStateValue }) {
  const s = session(data)
  s.root = parentElement
  s.emit = (outbox) => setStateValue("outbox", outbox)
  merge(s, data)
  listen(s)
  draw(s)
  send(s)
  return () => s.root === parentElement && s.close()
}

function session(data) {
  const prefix = `allpairs:${data.project}:${encodeURIComponent(data.annotator)}:`
  if (!sessions.has(prefix)) {
    sessions.set(prefix, {
      prefix, log: unsent(prefix), buffer: [], undo: [], pairs: new Map(), known: new Map(), why: {}, saved: 0, refused: [], sentAt: 0, attempt: 0,
      shownAt: 0, heardAt: 0, guardUntil: 0, serial: 0, differences: recall("allpairs:differences") !== "off", close: () => {},
    })
    document.activeElement?.blur?.() // a select box that was just used would swallow the keys
  }
  return sessions.get(prefix)
}

// ---- answers -------------------------------------------------------------------------------------------------------

function act(s, name) {
  if (name === "undo") undo(s)
  else if (name === "differences") toggleDifferences(s)
  else if (name === "help") toggleHelp(s)
  else if (name === "guidelines") document.querySelector(".st-key-guidelines button")?.click()
  else answer(s, name)
}

function answer(s, name) {
  if (!s.buffer.length || performance.now() < s.guardUntil) return
  const pair = s.buffer.shift()
  s.undo.push({ pair, answer: name })
  append(s, pair, name)
}

function undo(s) {
  const last = s.undo.pop()
  if (!last) return
  s.buffer.unshift({ ...last.pair, undone: true })
  append(s, last.pair, "retract")
}

function append(s, pair, name) {
  const seconds = Math.round(performance.now() - s.shownAt) / 1000
  const event = { key: newKey(s), task_id: pair.id, answer: name, seconds, at: new Date().toISOString(), n: s.serial }
  s.pairs.set(pair.id, pair)
  s.log.push(event)
  keep(s.prefix + event.key, JSON.stringify(event))
  draw(s)
  send(s)
}

function newKey(s) {
  // crypto.randomUUID is missing where the page is not served by https or localhost.
  const random = crypto.getRandomValues(new Uint32Array(3))
  s.serial += 1
  return `${Date.now().toString(36)}-${s.serial}-${Array.from(random, (x) => x.toString(36)).join("")}`
}

// One message at a time is under way, always with the whole log: answers given meanwhile go with the next one.
function send(s, evenIfEmpty = false) {
  if ((!s.log.length && !evenIfEmpty) || Date.now() - s.sentAt < RETRY) return
  s.sentAt = Date.now()
  s.attempt += 1
  s.emit({ attempt: s.attempt, events: s.log })
}

// ---- what the server says ------------------------------------------------------------------------------------------

function merge(s, data) {
  const stored = new Set(data.stored)
  for (const event of s.log.filter((e) => stored.has(e.key) || e.key in data.refused)) {
    forget(s.prefix + event.key)
    if (stored.has(event.key)) s.saved += 1
    else s.refused.push(data.refused[event.key])
    if (stored.has(event.key)) s.known.set(event.task_id, event.answer)
  }
  s.log = s.log.filter((e) => !stored.has(e.key) && !(e.key in data.refused))
  Object.assign(s.why, data.why)
  s.sentAt = 0
  s.heardAt = Date.now()
  if (s.view && s.view.queue !== data.queue) leaveQueue(s)
  s.view = data
  fill(s, data.pairs)
}

// Undo reaches back to the change between batch and sitting; answers of both are in one log.
function leaveQueue(s) {
  s.undo = []
  for (const pair of s.buffer) pair.undone = false
}

function fill(s, served) {
  const before = s.buffer[0]
  const pending = lastOf(s.log)
  const undone = s.buffer.filter((pair) => pair.undone)
  const taken = new Set(undone.map((pair) => pair.id))
  const open = served.filter((p) => !taken.has(p.id) && [undefined, "retract"].includes(pending.get(p.id)))
  // The pair that is being read stays, unless somebody else answered it or a newer batch takes its place.
  const shown = open.filter((p) => p.id === before?.id)
  s.buffer = [...undone, ...shown, ...open.filter((p) => p.id !== before?.id)]
  if (before && s.buffer[0]?.id !== before.id) s.guardUntil = performance.now() + UNSEEN
}

function lastOf(log) {
  return new Map(log.map((event) => [event.task_id, event.answer]))
}

// The server's counts with what it has not heard yet.
function counts(s) {
  const c = { ...s.view.progress }
  for (const [id, now] of lastOf(s.log)) {
    const pair = s.pairs.get(id)
    for (const [name, step] of [[s.known.get(id), -1], [now, 1]]) {
      if (!pair || !LABELS.has(name)) continue
      const positives = name === "positive" ? step : 0
      c.all_positives += positives
      if (!pair.batch || pair.round !== s.view.round) continue
      c.positives += positives
      c.answered += step
    }
  }
  return c
}

// ---- drawing -------------------------------------------------------------------------------------------------------

function draw(s) {
  const find = (selector) => s.root.querySelector(selector)
  const pair = s.buffer[0]
  find(".card").hidden = false // hidden until now: nothing is shown before keys work
  if (pair?.id !== s.shownId) s.shownAt = performance.now()
  s.shownId = pair?.id
  find(".question").textContent = s.view.question
  find(".pair").hidden = !pair
  find(".empty").hidden = Boolean(pair)
  find(".card").classList.toggle("plain", !s.differences)
  find(".card").classList.toggle("long", s.buffer.some((p) => p.long))
  for (const side of ["left", "right"]) drawText(find(`[data-side=${side}]`), pair?.[side] ?? [])
  for (const button of s.root.querySelectorAll(".answers button")) button.disabled = !pair
  find("[data-act=undo]").disabled = !s.undo.length
  find("[data-act=differences]").setAttribute("aria-pressed", String(s.differences))
  find(".empty").textContent = pair ? "" : s.log.length ? "Saving your answers …" : s.view.empty
  find(".last").textContent = last(s)
  find(".refused").hidden = !s.refused.length
  find(".refused").textContent = refusal(s.refused)
  drawProgress(s, find)
}

function drawText(box, segments) {
  const nodes = segments.map(([text, differs]) => {
    const node = document.createElement(differs ? "mark" : "span")
    node.textContent = text // never HTML: texts appear as they are
    return node
  })
  box.replaceChildren(...nodes)
  box.scrollTop = 0
}

function drawProgress(s, find) {
  const c = counts(s)
  find("progress").max = Math.max(c.size, 1)
  find("progress").value = c.answered
  const all = c.all_positives > c.positives ? ` (${c.all_positives} in all)` : ""
  find(".counts").textContent = s.view.title
    ? `${s.view.title}: ${c.answered} of ${c.size} answered · ${c.positives} positive${all}`
    : "No batch yet"
  const late = s.log.length && Date.now() - Date.parse(s.log[0].at) > 2 * RETRY
  find(".saved").textContent = `saved ${s.saved} · waiting ${s.log.length}` + (late ? " · kept in this browser" : "")
  find(".saved").classList.toggle("late", Boolean(late))
}

// Why a pair was chosen comes with the receipt: before the answer, this side does not know it.
function last(s) {
  const entry = s.undo.at(-1)
  if (!entry) return ""
  if (entry.answer === "skip") return "last pair: skipped"
  const why = s.why[entry.pair.id]
  return `last pair: ${entry.answer}` + (why ? ` · ${why}` : "")
}

function refusal(refused) {
  const many = refused.length === 1 ? "1 answer was" : `${refused.length} answers were`
  return refused.length ? `${many} not stored: ${refused.at(-1)}` : ""
}

function toggleDifferences(s) {
  s.differences = !s.differences
  keep("allpairs:differences", s.differences ? "on" : "off")
  draw(s)
}

function toggleHelp(s) {
  const help = s.root.querySelector(".help")
  help.hidden = !help.hidden
  s.root.querySelector("[data-act=help]").setAttribute("aria-expanded", String(!help.hidden))
}

// ---- keys, buttons, clock --------------------------------------------------------------------------------------------

function listen(s) {
  s.close()
  const root = s.root
  const stop = new AbortController()
  const on = { signal: stop.signal }
  document.addEventListener("keydown", (event) => onKey(s, event), on)
  root.querySelector(".card").addEventListener("click", (event) => onClick(s, event), on)
  document.addEventListener("visibilitychange", () => send(s, Date.now() - s.heardAt > STALE), on)
  const clock = setInterval(() => { send(s); drawProgress(s, (selector) => root.querySelector(selector)) }, 1000)
  s.close = () => { stop.abort(); clearInterval(clock) }
}

function onKey(s, event) {
  const name = KEYS[event.key?.toLowerCase()]
  if (!name || event.ctrlKey || event.metaKey || event.altKey || typing(event) || !s.root.isConnected) return
  event.preventDefault()
  act(s, name)
}

function typing(event) {
  const target = event.composedPath()[0]
  return target instanceof Element && (target.isContentEditable || target.matches("input, textarea, select"))
}

function onClick(s, event) {
  const name = event.target.closest("[data-act]")?.dataset.act
  if (name) act(s, name)
}

// ---- localStorage: each answer under its own entry, so that tabs do not overwrite each other ------------------------

function storage(use) {
  try {
    return use(localStorage)
  } catch {
    return null // forbidden or full: the log in memory still holds every answer
  }
}

const keep = (key, value) => storage((store) => store.setItem(key, value))
const recall = (key) => storage((store) => store.getItem(key))
const forget = (key) => storage((store) => store.removeItem(key))

function unsent(prefix) {
  const entries = storage((store) => Object.entries({ ...store })) ?? []
  const log = entries.filter(([key]) => key.startsWith(prefix)).map(([, value]) => JSON.parse(value))
  return log.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.n - b.n)
}
