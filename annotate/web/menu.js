// The menu: its links name the project, so that they can be opened in another tab; the page that is shown is marked for
// screen readers; and a link closes the menu where it covers the page.

import { onChange } from "./changes.js"

const NARROW = matchMedia("(max-width: 768px)") // where Streamlit draws the sidebar over the page

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

onChange(complete)
