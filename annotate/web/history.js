// What the app does by itself takes no place of its own in the history, so that *Back* leads back, once: the start page
// forwards to another one, and each page that opens writes its project into the address.

const OPENING = 2_000 // ms in which a page completes its address
const push = history.pushState.bind(history)
let opened = performance.now()

history.pushState = (state, title, url) => {
  const isSame = new URL(url ?? "", location.href).pathname === location.pathname
  if (location.pathname === "/" || (isSame && performance.now() - opened < OPENING)) history.replaceState(state, title, url)
  else push(state, title, url)
  if (!isSame) opened = performance.now()
}
