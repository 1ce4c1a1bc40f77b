// What keys and clicks mean, for every page: the labelling card asks here, and so do buttons with a shortcut.

const DOUBLE = 500 // ms within which a second click at the same place is the second half of a double click
const NEAR = 24 // px: fingers are less exact than a mouse
// Buttons that do something: what they stand for may have changed by a second click, or by a key that repeats.
const ACTS = ".card :is(.answers, .group-answers, .candidates) button, .card [data-act=undo], " +
  "[data-testid^=stBaseButton-]:not([data-testid=stPagination] *)"
const LAYERS = "[role=menu], [role=dialog], [data-testid=stPopoverBody]"

// The names of the key, the likeliest first: of the number row its digit, which some layouts have on Shift; its character;
// of a layout without Latin letters the letter at this place.
function keysOf(event) {
  const key = event.key?.toLowerCase()
  if (!key) return []
  const isPlain = !event.shiftKey && !event.getModifierState("AltGraph")
  const [, digit] = (isPlain && [...key].length < 3 && /^(?:Digit|Numpad)(\d)$/.exec(event.code)) || []
  const [, letter] = (!/[\p{Script=Latin}\p{Script=Common}]/u.test(key) && /^Key([A-Z])$/.exec(event.code)) || []
  return [...new Set([digit, key, letter?.toLowerCase()])].filter(Boolean)
}

// Whether a key is for a field, or for a menu, dialog or popover of Streamlit that is open.
function isTaken(event) {
  if (document.querySelector(LAYERS)) return true
  const target = event.composedPath()[0]
  return target instanceof Element && (target.isContentEditable || target.matches("input, textarea, select"))
}

function buttonOf(event) {
  return event.composedPath().find((node) => node instanceof Element && node.matches("button, a, summary, [role=button]"))
}

function isAct(button) {
  return Boolean(button?.matches(ACTS))
}

function swallow(event) {
  event.stopImmediatePropagation()
  event.preventDefault()
}

// Keys that an input method takes (Japanese, Chinese) reach no handler. Safari confirms with a key that is 229 alone.
function onKey(event) {
  if (event.isComposing || event.keyCode === 229) return event.stopImmediatePropagation()
  const button = buttonOf(event)
  const isPress = button && (event.key === "Enter" || event.key === " ")
  if (isPress && event.repeat && isAct(button)) return swallow(event)
  if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
  pressShortcut(event, isPress)
}

// Streamlit knows a key by its number, which differs between layouts, and takes a held key for many presses.
function pressShortcut(event, isPress) {
  const labels = [...document.querySelectorAll("button [aria-label^='Shortcut ']")]
  if (!labels.length) return
  if (isPress) return event.stopPropagation() // the button in focus is pressed, not the one whose shortcut is Enter
  if (event.repeat) return event.stopPropagation()
  const [key] = keysOf(event)
  const label = key?.length === 1 && labels.find((shown) => shown.ariaLabel.toLowerCase() === `shortcut ${key}`)
  if (!label) return
  swallow(event)
  label.closest("button").click()
}

let clicked = { at: -Infinity, x: 0, y: 0 } // the last click that did something

function onClick(event) {
  if (!event.detail || !isAct(buttonOf(event))) return // without detail, a key or a script clicked
  const isNear = Math.hypot(event.clientX - clicked.x, event.clientY - clicked.y) < NEAR
  if (isNear && event.timeStamp - clicked.at < DOUBLE) return swallow(event)
  clicked = { at: event.timeStamp, x: event.clientX, y: event.clientY }
}

addEventListener("keydown", onKey, true)
addEventListener("click", onClick, true)
window.allpairsInput = { keysOf, isTaken }
