// On every page: send the answers that the labelling card kept in this browser and that nobody acknowledged, because
// somebody left the page Label, closed it, or lost the connection. The server stores a key once, whoever sends it.

const KEPT = /^allpairs:(\d+):([^:]*):/ // project and annotator; the card writes one entry for each answer
const TICK = 250 // ms between two looks
const PATIENCE = 2_000 // ms for which the card, while it is open, sends its answers itself; then until the next try
const KEEPALIVE = 60_000 // bytes that browsers still send for a page that is being left

const AGAIN = 60_000 // ms after which answers are tried again that the server does not take: a project may be restored

const { t } = window.allpairsLanguage
window.allpairsRefused = new Map() // by key: why the server refused an answer for good; the card says so when it is opened
window.allpairsNotTaken = new Map() // by project and annotator: why the server does not take their answers, and until when
let nextTry = 0, busy = false
let most = 200 // answers in one request

function unsentAnswers() {
  const now = Date.now(), wait = location.pathname.endsWith("/label") ? PATIENCE : 0, queues = new Map()
  try {
    for (const [name, value] of Object.entries({ ...localStorage })) {
      const entry = KEPT.exec(name)
      const event = entry && JSON.parse(value)
      const until = window.allpairsNotTaken.get(entry?.[0])?.until ?? 0
      const isSettled = !event || window.allpairsRefused.has(event.key) || performance.now() < until
      if (isSettled || Math.abs(now - Date.parse(event.at)) < wait) continue
      const [prefix, project, annotator] = entry
      const queue = queues.get(prefix) ?? { prefix, project, annotator: decodeURIComponent(annotator), events: [] }
      queue.events.push(event)
      queues.set(prefix, queue)
    }
  } catch {
    return [] // no storage, or an entry that is not ours
  }
  for (const { events } of queues.values()) events.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.n - b.n)
  return [...queues.values()]
}

async function post({ prefix, project, annotator, events }) {
  const batch = events.slice(0, most), body = JSON.stringify({ annotator, events: batch })
  const headers = { "Content-Type": "application/json" }
  const response = await fetch(`./answers/${project}`, { method: "POST", body, headers, keepalive: body.length < KEEPALIVE })
  window.allpairsNotTaken.delete(prefix)
  if (response.ok) {
    const { stored, refused } = await response.json()
    for (const key of stored) localStorage.removeItem(prefix + key)
    tellCards(prefix, stored, batch)
    for (const [key, why] of Object.entries(refused)) window.allpairsRefused.set(key, why)
  } else if (response.status === 413 && batch.length > 1) most = Math.ceil(batch.length / 2) // a proxy takes no more at a time
  else {
    const why = await reason(response)
    if (!why) throw new Error(response.statusText)
    const wait = [403, 404, 409].includes(response.status) ? AGAIN : PATIENCE
    window.allpairsNotTaken.set(prefix, { why, until: performance.now() + wait })
  }
}

// Why the app does not take the answers: they are another person's, the project is away, nobody is signed in, the disk is
// full. Empty if not the app answered, but a proxy in front of it: of its own faults the app sends problem documents alone.
async function reason(response) {
  if (response.status === 401) return t("you are signed out. Sign in with the same name to send what is kept in this browser")
  const kind = response.headers.get("Content-Type") ?? ""
  if (kind.startsWith("application/problem+json")) return (await response.json()).detail
  return response.status < 500 && kind.startsWith("text/plain") ? response.text() : ""
}

// A card counts what was stored beside it, and asks for its next pairs; one that is being drawn finds the pairs here.
window.allpairsStored = {}

function tellCards(prefix, stored, events) {
  if (!stored.length) return
  const before = window.allpairsStored[prefix] ?? []
  window.allpairsStored[prefix] = [...before, ...events.map((event) => event.task_id)]
  if (!("BroadcastChannel" in window)) return
  const channel = new BroadcastChannel(prefix)
  channel.postMessage({ stored })
  channel.close()
}

async function look() {
  if (busy || performance.now() < nextTry) return
  busy = true
  try {
    for (const queue of unsentAnswers()) await post(queue)
  } catch {
    nextTry = performance.now() + PATIENCE
  }
  busy = false
}

setInterval(look, TICK)
addEventListener("pagehide", () => { for (const queue of unsentAnswers()) post(queue).catch(() => {}) })
