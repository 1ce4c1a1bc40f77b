// The menu: its links name the project, so that they can be opened in another tab; the page that is shown is marked for
// screen readers; a link closes the menu where it covers the page; and what was chosen leaves the keys to the page.

import { onChange } from "./changes.js"

const NARROW = matchMedia("(max-width: 768px)") // where Streamlit draws the sidebar over the page
const CHOICES = ":is(.st-key-chosen_project, .st-key-chosen_annotator) input"

function complete() {
  const project = new URLSearchParams(location.search).get("project")
  for (const link of document.querySelectorAll(".st-key-menu a")) {
    const to = new URL(link.href)
    if (project !== null) to.searchParams.set("project", project)
    link.setAttribute("href", to.pathname + to.search)
    if (to.pathname === location.pathname) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
  }
}

// Streamlit sends what was typed a moment after the field is left: a change of page before would be undone by it.
const SENDING = 200 // ms
let left = -Infinity

document.addEventListener("focusout", event => {
  if (event.target.matches("input, textarea")) left = performance.now()
}, true)

document.addEventListener("click", event => {
  const link = event.target.closest("a[data-testid=stPageLink-NavLink]")
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return // for another tab
  if (event.isTrusted && performance.now() - left < SENDING) {
    event.preventDefault()
    event.stopImmediatePropagation()
    setTimeout(() => link.click(), SENDING)
  } else if (NARROW.matches && link.closest("[data-testid=stSidebar]")) {
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  }
}, true)

// Once a project or a name is chosen, keys are meant for the page: they would go on changing the choice.
let isChosen = false

function onChoice(event) {
  isChosen = event.type === "pointerup" ? Boolean(event.target.closest("[role=option]")) : event.key === "Enter"
  if (isChosen) requestAnimationFrame(leave)
}

function leave() {
  const field = document.activeElement
  if (isChosen && field.matches(CHOICES) && field.ariaExpanded !== "true") field.blur()
}

for (const act of ["pointerup", "keydown"]) document.addEventListener(act, onChoice, true)
onChange(complete)
onChange(leave)
