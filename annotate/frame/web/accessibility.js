// What Streamlit leaves out for screen readers: bars of progress have names, and what changes by itself is said: the stage
// of such a bar (not its figures, which change every second), and a line of class "announced".

import { onChange } from "./changes.js"

const NEWS = "[data-testid=stProgress], .announced"
const BEFORE_FIGURES = /^(?:[^:]*:)?\D*/ // "Batch 2: " of "Batch 2: 10 of 60 answered"

const region = document.createElement("div")
region.setAttribute("role", "status")
region.className = "unseen"
document.body.append(region)

const heard = new WeakMap() // the last news of each element
let shown = "" // the page whose script has ended once; what is on it from the start is no news
let bars = 0

function look() {
  const app = document.querySelector("[data-testid=stApp]")
  if (!app) return
  document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme // dialogs are outside of the app
  for (const bar of app.querySelectorAll("[role=progressbar]:not([aria-labelledby])")) name(bar)
  for (const plot of app.querySelectorAll("[data-testid=stMetric] svg.marks")) plot.setAttribute("aria-hidden", "true") // the number says it
  const news = new Set([...app.querySelectorAll(NEWS)].filter(isNew).map((line) => line.textContent.trim()))
  if (shown === location.pathname && news.size) region.textContent = [...news].join(". ")
  if (app.dataset.testScriptState === "notRunning") shown = location.pathname
}

function name(bar) {
  const label = bar.closest("[data-testid=stProgress]")?.querySelector("[data-testid=stMarkdownContainer]")
  if (!label) return
  label.id ||= `progress-${++bars}`
  bar.setAttribute("aria-labelledby", label.id)
}

function isNew(line) {
  const [news] = line.textContent.trim().match(BEFORE_FIGURES)
  if (heard.get(line) === news) return false
  heard.set(line, news)
  return true
}

onChange(look)
