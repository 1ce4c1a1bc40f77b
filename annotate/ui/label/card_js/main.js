// The labelling card. It holds the next pairs, shows the following one at once after a key press, and keeps every answer
// in a log (and in localStorage) until the server says that it is stored. The log only grows at its end: undo is an entry.

const LABELS = new Set(["positive", "negative", "unsure"])
const RETRY = 2000 // ms after which an answer that is not acknowledged is sent again
const STALE = 300_000 // ms after which whoever comes back to the page is served anew, for leases do not last
const BEAT = 120_000 // ms without a message after which whoever is there says so: it prolongs the leases
const AWAY = 300_000 // ms without a touch of keys, mouse or screen after which nobody is there
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
    const s = {
      prefix, log: unsent(prefix), buffer: [], undo: [], pairs: new Map(), known: new Map(), why: {}, saved: 0, refused: [],
      sentAt: 0, attempt: 0, shownAt: 0, heardAt: 0, touchedAt: Date.now(), guardUntil: 0, serial: 0, paces: [],
      marks: new Map(), notes: new Map(), keys: keyMap(), close: () => {},
      differences: recall(DIFFERENCES) !== "off", scale: Number(recall(SCALE)) || 1,
    }
    remember(s, data)
    sessions.set(prefix, s)
    document.activeElement?.blur?.() // a select box that was just used would swallow the keys
  }
  return sessions.get(prefix)
}

// After a reload, what was answered before it can still be undone: what the server knows, and what it does not know yet.
function remember(s, data) {
  for (const { pair, answer, note } of data.recent) {
    s.pairs.set(pair.id, pair)
    s.known.set(pair.id, answer)
    s.undo.push({ pair, answer, note })
  }
  const served = new Map(data.pairs.map((pair) => [pair.id, pair]))
  for (const event of s.log) {
    const pair = s.pairs.get(event.task_id) ?? served.get(event.task_id)
    if (!pair) continue
    s.pairs.set(pair.id, pair)
    s.undo = s.undo.filter((entry) => entry.pair.id !== pair.id)
    if (event.answer !== "retract") s.undo.push({ pair, answer: event.answer, note: event.note })
  }
}
