// ---- keys, buttons, clock --------------------------------------------------------------------------------------------

const DEFAULT_KEYS = {
  positive: ["1", "y"], negative: ["2", "n"], unsure: ["3", "u"], skip: ["s"], undo: ["z", "backspace"], note: ["c"],
  differences: ["d"], larger: ["+"], smaller: ["-"], guidelines: ["g"], help: ["?"],
}
const KEY_STORE = "allpairs:keys"
const RUNS = "allpairs:held-keys"
const NAMES = { backspace: "⌫", enter: "↵", " ": t("space"), arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓" }
const TOUCHES = ["keydown", "pointerdown", "pointermove", "wheel", "visibilitychange"] // signs that somebody is there
const UNUSABLE = new Set(["tab", "escape", "enter", "shift", "control", "alt", "meta", "capslock", "dead", "process"])

function keyMap() {
  let own = {}
  try {
    own = JSON.parse(recall(KEY_STORE) ?? "{}")
  } catch {
    forget(KEY_STORE)
  }
  return { ...DEFAULT_KEYS, ...own }
}

// The action of the likeliest of the key's names that has one.
function actionOf(s, keys) {
  const bound = keys.find((key) => Object.values(s.keys).flat().includes(key))
  return Object.keys(s.keys).find((name) => s.keys[name].includes(bound))
}

function listen(s) {
  s.close()
  const root = s.root
  const stop = new AbortController()
  const on = { signal: stop.signal }
  const note = root.querySelector(".note textarea")
  document.addEventListener("keydown", (event) => onKey(s, event), on)
  root.querySelector(".card").addEventListener("click", (event) => onClick(s, event), on)
  note.addEventListener("input", (event) => onNote(s, event), on)
  note.addEventListener("keydown", (event) => onNoteKey(s, event), on)
  note.addEventListener("blur", (event) => onNoteLeft(s, event), on)
  root.querySelector(".help").addEventListener("close", () => endChange(s), on)
  root.querySelector(".guidelines").addEventListener("close", () => drawKeys(s), on)
  root.querySelector(".runs").addEventListener("change", (event) => setRuns(s, event.target.checked), on)
  for (const name of TOUCHES) document.addEventListener(name, () => { s.touchedAt = Date.now() }, { ...on, passive: true, capture: true })
  document.addEventListener("visibilitychange", () => send(s, silence(s) > STALE), on)
  const clock = setInterval(() => { send(s, isDueToBeat(s)); drawClock(s, (selector) => root.querySelector(selector)) }, 1000)
  const size = new ResizeObserver(() => { giveRoom(s); fit(s) })
  size.observe(root.querySelector(".card"))
  size.observe(root.querySelector(".pair"))
  s.close = () => { stop.abort(); clearInterval(clock); size.disconnect() }
}

// A hidden or idle tab lets its leases run out. One whose last pairs went to another tab asks what comes next.
function isDueToBeat(s) {
  if (!s.buffer.length && !s.waiting.length && !s.view.empty) return silence(s) > RETRY
  const there = document.visibilityState === "visible" && Date.now() - s.touchedAt < AWAY
  return there && s.buffer.length > 0 && silence(s) > BEAT
}

// Time asleep counts too, so this is of the clock on the wall; if that was set back, the server is asked to be sure.
function silence(s) {
  return Math.abs(Date.now() - s.heardAt)
}

function onKey(s, event) {
  const keys = keysOf(event)
  if (!keys.length || event.ctrlKey || event.metaKey || event.altKey || newest !== s || !s.root.isConnected) return
  if (s.root.querySelector(".help").open) return onDialogKey(s, event, keys)
  if (isTaken(event)) return
  const name = actionOf(s, keys)
  if (s.root.querySelector(".guidelines:modal") && name !== "guidelines") return
  if (s.writing !== null && !isOnButton(event) && (name || [...event.key].length === 1)) return focusNote(s) // the letter follows
  if (s.view.grouped && groupKey(s, event, keys[0])) return event.preventDefault()
  if (!name) return
  event.preventDefault()
  if (mayAnswer(s, event)) act(s, name)
}

// A key held down answers one pair; or, if somebody wants that, each pair that has been on the screen.
function mayAnswer(s, event) {
  return !event.repeat || (s.runs && s.painted)
}

// With several candidates, digits mark them and Enter answers. A key held down must not mark and unmark in turn.
function groupKey(s, event, key) {
  if (/^[1-9]$/.test(key)) {
    if (!event.repeat) mark(s, Number(key))
    return true
  }
  if (key !== "enter" || isOnButton(event)) return false
  if (mayAnswer(s, event)) act(s, "submit")
  return true
}

function isOnButton(event) {
  return event.composedPath()[0] instanceof HTMLButtonElement
}

function onClick(s, event) {
  const button = event.target.closest("[data-act], [data-change], [data-candidate], [data-dialog]")
  if (!button) return
  const { act: name, change, candidate, mark: as, dialog } = button.dataset
  if (name) act(s, name)
  else if (candidate) mark(s, Number(candidate), as)
  else if (change) askForKey(s, change)
  else if (dialog === "reset") setKeys(s, { ...DEFAULT_KEYS })
  else if (dialog === "close") s.root.querySelector(".help").close()
  else if (dialog === "guidelines") closeGuidelines(s)
}

// ---- the dialog that shows and changes the keys --------------------------------------------------------------------------

function openKeys(s) {
  drawKeys(s)
  s.root.querySelector(".help").showModal()
}

function askForKey(s, name) {
  s.changing = name
  drawKeys(s)
}

function endChange(s) {
  s.changing = null
  drawKeys(s)
}

function onDialogKey(s, event, keys) {
  const [key] = keys
  if (!s.changing) return keys.includes("?") ? s.root.querySelector(".help").close() : undefined
  if (key === "tab") return endChange(s)
  event.preventDefault()
  if (key === "escape") return endChange(s)
  if (UNUSABLE.has(key)) return
  const changed = Object.fromEntries(Object.entries(s.keys).map(([name, own]) => [name, own.filter((other) => other !== key)]))
  changed[s.changing] = [key]
  setKeys(s, changed)
}

function setKeys(s, keys) {
  s.keys = keys
  s.changing = null
  keep(KEY_STORE, JSON.stringify(keys))
  draw(s)
}

function setRuns(s, runs) {
  s.runs = runs
  keep(RUNS, runs ? "on" : "off")
}

function shownKey(key) {
  return NAMES[key] ?? key.toUpperCase()
}

function drawKeys(s) {
  s.root.querySelector("[data-act=guidelines]").setAttribute("aria-expanded", String(s.root.querySelector(".guidelines").open))
  s.root.querySelector(".runs").checked = s.runs
  for (const [name, keys] of Object.entries(s.keys)) {
    const words = keys.map(shownKey).join(` ${t("or")} `)
    for (const button of s.root.querySelectorAll(`.card [data-act=${name}]`)) {
      const label = button.querySelector("kbd")
      if (label) label.textContent = keys.length ? shownKey(keys[0]) : ""
      const act = button.dataset.label
      button.setAttribute("aria-label", words ? t("{act}: key {keys}", { act, keys: words }) : t("{act}: no key", { act }))
    }
    const change = s.root.querySelector(`[data-change=${name}]`)
    if (!change) continue
    const now = words || t("no key")
    change.textContent = s.changing === name ? t("Press a key …") : now
    change.setAttribute("aria-label", t("Change the key of “{act}”, now {keys}", { act: change.dataset.label, keys: now }))
  }
}
