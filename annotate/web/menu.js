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

document.addEventListener("click", event => {
  const link = event.target.closest("[data-testid=stSidebar] a[data-testid=stPageLink-NavLink]")
  if (link && NARROW.matches) document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
})

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
