// ---- other tabs of the same person: they tell each other which pair they show, and what was answered ----------------------

const TAB = Array.from(crypto.getRandomValues(new Uint32Array(2)), (x) => x.toString(36)).join("")
const TOLD = 60_000 // ms after which the server knows what became of an answer in another tab

function joinTabs(s) {
  if (!("BroadcastChannel" in window)) return
  s.channel = new BroadcastChannel(s.prefix)
  s.channel.onmessage = ({ data }) => onTab(s, data)
  addEventListener("pagehide", () => leaveTabs(s))
  s.channel.postMessage({ tab: TAB, asks: true })
}

function leaveTabs(s) {
  s.channel?.postMessage({ tab: TAB, shown: null })
}

function onTab(s, { tab, asks, shown, id, answer, stored }) {
  if (asks) return tellShown(s)
  if (stored) return onStored(s, new Set(stored))
  if (answer === "retract") s.done.delete(id)
  else if (answer) s.done.set(id, performance.now())
  else if (shown) s.elsewhere.set(tab, shown)
  else s.elsewhere.delete(tab)
  if (!s.view || !s.root?.isConnected) return
  const before = s.buffer[0]?.id
  leaveToTabs(s)
  if (!s.buffer.length || s.buffer[0].id !== before) draw(s)
}

// Answers that this page's frame sent, because the card was not open or got no receipt.
function onStored(s, stored) {
  const sent = s.log.filter((event) => stored.has(event.key))
  s.log = s.log.filter((event) => !stored.has(event.key))
  s.saved += sent.length
  noteStored(s, sent.map((event) => event.task_id))
  if (!s.view || !s.root?.isConnected) return
  s.sentAt = -Infinity
  send(s, true)
}

// What the server said before it stored an answer beside the card still has the pair, until it replies to our next message.
function noteStored(s, ids) {
  for (const id of ids) s.beside.set(id, s.attempt + 1)
}

function isBehind(s) {
  return [...s.beside.values()].some((attempt) => attempt > s.view.attempt)
}

// A pair that was answered in another tab goes, and one that another tab shows, and showed first, waits. Of the others each
// tab begins with its own share, and goes on with the rest from the end; the pair on the screen stays.
function leaveToTabs(s) {
  const isDone = (id) => performance.now() - (s.done.get(id) ?? -Infinity) < TOLD
  const open = [...s.buffer, ...s.waiting].filter((pair) => pair.undone || pair.id === s.writing || !isDone(pair.id))
  s.waiting = []
  s.buffer = open
  if (s.view.grouped || !s.elsewhere.size) return
  const tabs = [TAB, ...s.elsewhere.keys()].sort()
  const isThere = (id) => [...s.elsewhere.values()].some((other) => other.id === id && (id !== s.shownId || other.since < s.since))
  const isOurs = (id) => id === s.shownId || Math.abs(id) % tabs.length === tabs.indexOf(TAB)
  const place = ({ id, undone }) => (undone ? 0 : isThere(id) ? 3 : isOurs(id) ? 1 : 2)
  const [undone, ours, rest, there] = [0, 1, 2, 3].map((rank) => open.filter((pair) => place(pair) === rank))
  s.buffer = [...undone, ...ours, ...rest.reverse()]
  s.waiting = there
}

function tellShown(s) {
  const pair = s.root?.isConnected && s.buffer[0]
  s.channel?.postMessage({ tab: TAB, shown: pair ? { id: pair.id, since: s.since } : null })
}

function tellAnswer(s, id, answer) {
  s.channel?.postMessage({ tab: TAB, id, answer })
}
