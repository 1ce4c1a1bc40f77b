// The labelling card. It buffers the next pairs, so that a key press shows the following one at once, and keeps every
// answer in a log (and in localStorage) until the server has stored it. The log is append-only: undo is an entry too.

const { t, tn, decimals, translate } = window.allpairsLanguage // of the page's frame (annotate/frame/web/language.js)
const { keysOf, isTaken } = window.allpairsInput // of annotate/frame/web/input.js
const LABELS = new Set(["positive", "negative", "unsure"])
const RETRY = 2000 // ms after which an unacknowledged answer is sent again
const STALE = 300_000 // ms after which a returning annotator gets pairs anew, since leases expire
const BEAT = 120_000 // ms without a message after which an active annotator sends one to renew the leases
const AWAY = 300_000 // ms without keys, mouse or touch after which the annotator counts as away
const UNSEEN = 300 // ms for which keys are ignored after a newer batch has replaced the pair on screen

let newest = null // the session of the card that was drawn last: while it replaces another one, both are there
const sessions = new Map() // by project and annotator; a session outlives its element, which Streamlit redraws

export default function ({ data: [data], parentElement, setStateValue }) {
  const s = session(data)
  const isOpening = s.root !== parentElement
  s.root = parentElement
  newest = s
  if (isOpening) translate(parentElement)
  s.emit = (outbox) => setStateValue("outbox", outbox)
  merge(s, data)
  listen(s)
  draw(s)
  if (isOpening && s.writing !== null) focusNote(s)
  drawGuidelines(s)
  fit(s)
  // On a small or magnified screen, what is above the pair would leave no room for it.
  if (isOpening) s.root.querySelector(".pair").scrollIntoView({ block: "nearest" })
  send(s, isBehind(s))
  return () => {
    if (s.root !== parentElement) return
    s.close()
    leaveTabs(s)
  }
}

function session(data) {
  const prefix = `allpairs:${data.project}:${encodeURIComponent(data.annotator)}:`
  if (!sessions.has(prefix)) {
    const s = {
      prefix, log: unsent(prefix), buffer: [], undo: [], pairs: new Map(), known: new Map(), why: {}, saved: 0, refused: [],
      sentAt: -Infinity, attempt: 0, shownAt: 0, heardAt: 0, touchedAt: Date.now(), guardUntil: 0, serial: 0, paces: [],
      marks: new Map(), notes: new Map(), keys: keyMap(), close: () => {}, elsewhere: new Map(), done: new Map(), since: 0,
      waiting: [], beside: new Map(),
      differences: recall(DIFFERENCES) !== "off", scale: Number(recall(SCALE)) || 1, runs: recall(RUNS) === "on",
      missed: 0, painted: false, guidelines: null, writing: null,
    }
    noteStored(s, window.allpairsStored?.[prefix] ?? [])
    s.serial = Math.max(0, ...s.log.map((event) => event.n ?? 0))
    remember(s, data)
    sessions.set(prefix, s)
    joinTabs(s)
  }
  return sessions.get(prefix)
}

// After a reload, earlier answers can still be undone: those that the server knows, and those it does not know yet.
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
