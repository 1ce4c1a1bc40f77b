// Before somebody closes or reloads a page with something that is typed and not saved, the browser asks.

const UNSAVED = ".st-key-unsaved, [data-testid=stTextArea] [data-testid=InputInstructions]" // the latter while one types

addEventListener("beforeunload", (event) => {
  if (document.querySelector(UNSAVED)) event.preventDefault()
})
