// Calls a function after each change of the page, and of the state of its script, at most once per frame.
export function onChange(look) {
  let isDue = false
  new MutationObserver(() => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      look()
    })
  }).observe(document.documentElement, {
    subtree: true, childList: true, characterData: true, attributeFilter: ["data-test-script-state"],
  })
}
