// On every page: send the answers that the labelling card kept in this browser and that nobody acknowledged, because
// somebody left the page Label, closed it, or lost the connection. The server stores a key once, whoever sends it.

const KEPT = /^allpairs:(\d+):([^:]*):/ // project and annotator; the card writes one entry for each answer
const TICK = 250 // ms between two looks
const PATIENCE = 2_000 // ms for which the card, while it is open, sends its answers itself; then until the next try
const MOST = 200 // answers in one request
const KEEPALIVE = 60_000 // bytes that browsers still send for a page that is being left

const AGAIN = 60_000 // ms after which answers are tried again that the server does not take: a project may be restored

const settled = new Set() // keys that the server refused: the card shows why when it is opened
window.allpairsNotTaken = new Map() // by project and annotator: why the server does not take their answers, and since when
let next = 0, busy = false

function kept() {
  const now = Date.now(), wait = location.pathname.endsWith("/label") ? PATIENCE : 0, queues = new Map()
  try {
    for (const [name, value] of Object.entries({ ...localStorage })) {
      const found = KEPT.exec(name)
      const event = found && JSON.parse(value)
      const since = window.allpairsNotTaken.get(found?.[0])?.since ?? -Infinity
      if (!event || settled.has(event.key) || performance.now() - since < AGAIN || Math.abs(now - Date.parse(event.at)) < wait) continue
      const queue = queues.get(found[0]) ?? { prefix: found[0], project: found[1], annotator: decodeURIComponent(found[2]), events: [] }
      queue.events.push(event)
      queues.set(found[0], queue)
    }
  } catch {
    return [] // no storage, or an entry that is not ours
  }
  for (const { events } of queues.values()) events.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.n - b.n)
  return [...queues.values()]
}

async function post({ prefix, project, annotator, events }) {
  const some = events.slice(0, MOST), body = JSON.stringify({ annotator, events: some })
  const headers = { "Content-Type": "application/json" }
  const response = await fetch(`./answers/${project}`, { method: "POST", body, headers, keepalive: body.length < KEEPALIVE })
  window.allpairsNotTaken.delete(prefix)
  if (response.ok) {
    const { stored, refused } = await response.json()
    for (const key of stored) localStorage.removeItem(prefix + key)
    tellCards(prefix, stored, some)
    for (const key of Object.keys(refused)) settled.add(key)
  } else if ([403, 404, 409].includes(response.status)) {
    // Another person's, or of a project that is archived, in the bin, or gone.
    window.allpairsNotTaken.set(prefix, { why: (await response.json()).detail, since: performance.now() })
  } else throw new Error(response.statusText)
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
  if (busy || performance.now() < next) return
  busy = true
  try {
    for (const queue of kept()) await post(queue)
  } catch {
    next = performance.now() + PATIENCE
  }
  busy = false
}

setInterval(look, TICK)
addEventListener("pagehide", () => { for (const queue of kept()) post(queue).catch(() => {}) })
