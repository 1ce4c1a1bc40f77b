// While the server is away: a strip of our own on every page, in place of Streamlit's dialog, which would cover the pair.

const LOOK = 500 // ms between two looks
const PATIENCE = 1_000 // ms for which a connection may be away unnoticed
const FIRST = 10_000 // ms in which a page should have opened its websocket
const OVERDUE = 6_000 // ms after which an answer should long be stored
const STYLE = `
  .allpairs-lost [data-testid=stDialog] { display: none; }
  #allpairs-strip { position: fixed; inset: 0 0 auto; z-index: 1000000; padding: 0.5rem 1rem; text-align: center;
    font: 600 0.95rem/1.4 "Source Sans", sans-serif; color: #fff; background: #7a2e0e; }
  #allpairs-strip[hidden] { display: none; }`

const { t, tn } = window.allpairsLanguage
const strip = document.createElement("div")
strip.id = "allpairs-strip"
strip.setAttribute("role", "status")
strip.hidden = true
const style = document.createElement("style")
style.textContent = STYLE
document.head.append(style)
document.body.append(strip)

const openedAt = Date.now()
let wasConnected = false, shownAt = 0, lostAt = 0, isAsked = false, reason = ""

// When each answer that is still in this browser was given, and why the server does not take it, if it has said so.
function keptAnswers() {
  try {
    const answers = Object.entries({ ...localStorage }).filter(([name]) => /^allpairs:\d+:/.test(name))
    return answers.map(([name, answer]) => {
      const { at, key } = JSON.parse(answer), prefix = /^allpairs:\d+:[^:]*:/.exec(name)?.[0]
      const why = window.allpairsRefused?.get(key) ?? window.allpairsNotTaken?.get(prefix)?.why
      return { at: Date.parse(at), why }
    })
  } catch {
    return [] // no storage
  }
}

function notTakenWords(answers) {
  const why = answers.at(-1).why
  return tn("1 answer was not saved: {why}", "{n} answers were not saved: {why}", answers.length, { why })
}

function words(count) {
  if (!count) return t("Connection lost. This page goes on when the connection is back.")
  return tn(
    "Connection lost. One answer is safe in this browser, and will be sent when the connection is back.",
    "Connection lost. {n} answers are safe in this browser, and will be sent when the connection is back.",
    count,
  )
}

// Why this page does not open: the server knows what its proxy passes on.
async function ask() {
  isAsked = true
  const answer = await fetch("./proxy-report/socket", { method: "POST" }).catch(() => null)
  reason = answer?.ok
    ? await answer.text()
    : t("The server does not answer. Open this page again in a minute, or tell your administrator.")
}

setInterval(() => {
  const state = document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState
  if (state === "CONNECTED") wasConnected = true
  if (state) shownAt ||= performance.now()
  const isLate = !wasConnected && shownAt > 0 && performance.now() - shownAt > FIRST
  if (isLate && !isAsked) ask()
  lostAt = wasConnected && state !== "CONNECTED" ? lostAt || performance.now() : 0
  const answers = keptAnswers(), waiting = answers.filter(({ why }) => !why)
  const notTaken = answers.filter(({ at, why }) => why && at > openedAt)
  const overdue = waiting.some(({ at }) => at > openedAt && Date.now() - at > OVERDUE)
  const isLost = overdue || (lostAt > 0 && performance.now() - lostAt > PATIENCE)
  document.documentElement.classList.toggle("allpairs-lost", isLost)
  const line = (isLate && reason) || (isLost && words(waiting.length)) || (notTaken.length && notTakenWords(notTaken)) || ""
  strip.hidden = !line
  if (strip.textContent !== line) strip.textContent = line
}, LOOK)
