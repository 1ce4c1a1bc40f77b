// What the app does by itself takes no place of its own in the history, so that *Back* leads back, once: the start page
// forwards to another one, each page that opens adds its project and person to the address, and the address of a page
// that is left may be written once more before that of the next one. No rule here is one of time: a slow machine opens
// a page in seconds.

const push = history.pushState.bind(history)
let acted = false // whether the person has done anything since the last place in the history
for (const act of ["click", "keydown"]) addEventListener(act, () => (acted = true), true)

/** Return whether an address is another place: another page, or another value of a parameter that both have. */
function isElsewhere(url) {
  const next = new URL(url ?? "", location.href)
  if (location.pathname.endsWith("/")) return false
  if (next.pathname !== location.pathname) return true
  const asked = new URLSearchParams(location.search)
  return [...next.searchParams].some(([name, value]) => asked.has(name) && asked.get(name) !== value)
}

history.pushState = (state, title, url) => {
  if (acted && isElsewhere(url)) {
    acted = false
    push(state, title, url)
  } else history.replaceState(state, title, url)
}
