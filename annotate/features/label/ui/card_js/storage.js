// ---- localStorage: one entry per answer, so that tabs do not overwrite each other -------------------------------------

function storage(use) {
  try {
    return use(localStorage)
  } catch {
    return null // forbidden or full; the log in memory still holds every answer
  }
}

function keep(key, value) {
  storage((store) => store.setItem(key, value))
}

function recall(key) {
  return storage((store) => store.getItem(key))
}

function forget(key) {
  storage((store) => store.removeItem(key))
}

function unsent(prefix) {
  const entries = storage((store) => Object.entries({ ...store })) ?? []
  const log = entries.filter(([key]) => key.startsWith(prefix)).map(([, value]) => JSON.parse(value))
  return log.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.n - b.n)
}
