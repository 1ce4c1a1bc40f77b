// What the app does by itself takes no place of its own in the history, so that *Back* leads back, once: the start page
// forwards to another one, each page that opens writes its project into the address, and the address of a page that is
// left may be written once more before that of the next one.

const OPENING = 2_000 // ms in which a page completes its address
const STEP = 200 // ms; what follows a change of the parameters within this time is the same step
const push = history.pushState.bind(history)
let opened = performance.now()
let changed = -STEP

history.pushState = (state, title, url) => {
  const now = performance.now()
  const isSame = new URL(url ?? "", location.href).pathname === location.pathname
  const isOpening = location.pathname === "/" || (isSame && now - opened < OPENING)
  if (isOpening || now - changed < STEP) history.replaceState(state, title, url)
  else {
    push(state, title, url)
    if (isSame) changed = now
  }
  if (!isSame) opened = now
}
