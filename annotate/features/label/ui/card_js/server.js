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
  s.sentAt = -Infinity
  s.heardAt = Date.now()
  if (s.view && s.view.queue !== data.queue) leaveQueue(s)
  s.view = data
  const held = new Map([...s.buffer, ...s.waiting].map((pair) => [pair.id, pair]))
  fill(s, data.pairs.map((pair) => (pair.rows ? pair : { ...held.get(pair.id), ...pair })).filter((pair) => pair.rows))
}

// Undo reaches back to the last change between batch and audit batch; answers of both share one log.
function leaveQueue(s) {
  s.undo = []
  for (const pair of s.buffer) pair.undone = false
}

function fill(s, served) {
  const before = s.buffer[0]
  const pending = lastOf(s.log)
  const undone = s.buffer.filter((pair) => pair.undone)
  const taken = new Set(undone.map((pair) => pair.id))
  for (const [id, attempt] of s.beside) if (attempt <= s.view.attempt) s.beside.delete(id)
  const isOpen = (id) => !taken.has(id) && !s.beside.has(id) && [undefined, "retract"].includes(pending.get(id))
  const open = served.filter((pair) => isOpen(pair.id))
  // The pair on screen stays, unless somebody else answered it or a newer batch replaces it; and while its note is written.
  const shown = before && s.writing === before.id && !before.undone ? [before] : open.filter((p) => p.id === before?.id)
  s.buffer = [...undone, ...shown, ...open.filter((p) => p.id !== before?.id)]
  s.waiting = []
  leaveToTabs(s)
  if (before && s.buffer[0]?.id !== before.id) s.guardUntil = performance.now() + UNSEEN
}

function lastOf(log) {
  return new Map(log.map((event) => [event.task_id, event.answer]))
}

// The server's counts, plus the answers it does not know yet. A pair that had been answered before does not change them.
function counts(s) {
  const c = { ...s.view.progress }
  for (const [id, now] of lastOf(s.log)) {
    const pair = s.pairs.get(id)
    for (const [name, step] of [[s.known.get(id), -1], [now, 1]]) {
      if (!pair || pair.again || !LABELS.has(name)) continue
      const positives = name === "positive" ? step : 0
      c.all_positives += positives
      if (pair.round !== s.view.round) continue
      if (!pair.batch) {
        c.extra += step
        continue
      }
      c.positives += positives
      c.answered += step
    }
  }
  return c
}
