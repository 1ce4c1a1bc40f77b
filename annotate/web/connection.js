// While the server is away: a strip of our own on every page, in place of Streamlit's dialog, which would cover the pair.

const LOOK = 500 // ms between two looks
const PATIENCE = 1_000 // ms for which a connection may be away unnoticed
const STYLE = `
  .allpairs-lost [data-testid=stDialog] { display: none; }
  #allpairs-strip { position: fixed; inset: 0 0 auto; z-index: 1000000; padding: 0.5rem 1rem; text-align: center;
    font: 600 0.95rem/1.4 "Source Sans", sans-serif; color: #fff; background: #7a2e0e; }
  #allpairs-strip[hidden] { display: none; }`

const strip = document.createElement("div")
strip.id = "allpairs-strip"
strip.setAttribute("role", "status")
strip.hidden = true
const style = document.createElement("style")
style.textContent = STYLE
document.head.append(style)
document.body.append(strip)

let wasConnected = false, lostAt = 0

function kept() {
  try {
    return Object.keys(localStorage).filter((name) => /^allpairs:\d+:/.test(name)).length
  } catch {
    return 0 // no storage
  }
}

function words(count) {
  if (!count) return "Connection lost. This page goes on when the server is back."
  const answers = count === 1 ? "One answer is" : `${count} answers are`
  return `Connection lost. ${answers} safe in this browser, and will be sent when the server is back.`
}

setInterval(() => {
  const state = document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState
  if (state === "CONNECTED") wasConnected = true
  lostAt = wasConnected && state !== "CONNECTED" ? lostAt || Date.now() : 0
  const isLost = lostAt > 0 && Date.now() - lostAt > PATIENCE
  document.documentElement.classList.toggle("allpairs-lost", isLost)
  strip.hidden = !isLost
  const said = isLost ? words(kept()) : ""
  if (strip.textContent !== said) strip.textContent = said
}, LOOK)
