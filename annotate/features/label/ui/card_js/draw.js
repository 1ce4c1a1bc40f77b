// ---- drawing -------------------------------------------------------------------------------------------------------

const ANSWERS = { positive: "Yes", negative: "No", unsure: "Unsure" }
const SCALE = "allpairs:text-size"
const DIFFERENCES = "allpairs:differences"
const PACED = 20 // answers whose median is the time per pair

function draw(s) {
  const find = (selector) => s.root.querySelector(selector)
  const pair = s.buffer[0]
  const card = find(".card")
  card.hidden = false // it was hidden until keys work
  if (pair?.id !== s.shownId) showNext(s, pair)
  find(".question").textContent = s.view.question
  find(".pair").hidden = !pair || s.view.grouped
  find(".candidates").hidden = !pair || !s.view.grouped
  find(".empty").hidden = Boolean(pair)
  card.classList.toggle("plain", !s.differences || s.view.grouped) // the left text differs from each candidate in another way
  card.style.setProperty("--scale", s.scale)
  if (s.view.grouped) drawCandidates(s, find)
  else drawPair(find(".pair"), pair)
  find(".answers").hidden = s.view.grouped
  find(".group-answers").hidden = !s.view.grouped
  for (const button of s.root.querySelectorAll(".answers button, .group-answers button")) button.disabled = !pair
  find("[data-act=undo]").disabled = !s.undo.length
  find("[data-act=differences]").setAttribute("aria-pressed", String(s.differences && !s.view.grouped))
  find("[data-act=differences]").disabled = s.view.grouped
  drawEmpty(s, find)
  find(".last").textContent = last(s)
  find(".refused").hidden = !s.refused.length
  find(".refused").textContent = refusal(s.refused)
  drawNote(s)
  drawKeys(s)
  drawProgress(s, find)
}

function showNext(s, pair) {
  s.shownAt = performance.now()
  s.since = Date.now()
  s.shownId = pair?.id
  s.painted = false
  requestAnimationFrame(() => requestAnimationFrame(() => { s.painted = true }))
  tellShown(s)
}

function drawEmpty(s, find) {
  const said = s.buffer.length ? "" : [nothing(s), missed(s)].join(" ").trim()
  if (find(".empty").textContent !== said) find(".empty").textContent = said
}

function nothing(s) {
  const beyond = t("You have answered every pair that this browser holds. More come when the connection is back.")
  if (s.log.length) return Date.now() - s.heardAt > 3 * RETRY ? beyond : t("Saving your answers …")
  return s.waiting.length ? t("Another tab of yours shows the last pair.") : s.view.empty
}

function missed(s) {
  if (!s.missed) return ""
  return tn(
    "One key came while there was no pair: it answered nothing.",
    "{n} keys came while there was no pair: they answered nothing.",
    s.missed,
  )
}

// A pair that is being read stays as it is, with its scroll position.
function drawPair(box, pair) {
  if (box.dataset.shown === String(pair?.id)) return
  box.dataset.shown = String(pair?.id)
  const isRecord = Boolean(pair && pair.rows[0][0] !== null)
  box.querySelector(".records").hidden = !isRecord
  for (const side of ["left", "right"]) {
    const text = box.querySelector(`[data-side=${side}]`)
    text.hidden = isRecord
    drawText(text, pair && !isRecord ? runsOf(pair, side) : [])
  }
  box.querySelector("tbody").replaceChildren(...(isRecord ? pair.rows.map((row) => rowOf(box, row)) : []))
  box.querySelector(".records").scrollTop = 0
}

function rowOf(box, [name, left, right, likeness]) {
  const row = box.querySelector(".row-template").content.firstElementChild.cloneNode(true)
  const head = row.querySelector("th")
  head.textContent = name
  const words = { same: t("same"), similar: t("similar"), different: t("different") }[likeness]
  if (words) {
    head.dataset.likeness = likeness
    head.dataset.words = words
    head.setAttribute("aria-label", `${name}: ${words}`)
  }
  const cells = row.querySelectorAll("td")
  for (const [at, runs] of [left, right].entries()) {
    if (runs.length) drawText(cells[at], runs)
    else cells[at].append(box.querySelector(".missing-template").content.cloneNode(true))
  }
  return row
}

// One side of a pair as one text: of a record, a line for each column that has a value.
function runsOf(pair, side) {
  const at = side === "left" ? 1 : 2
  return pair.rows.flatMap((row) => {
    if (row[0] === null || !row[at].length) return row[at]
    return [[`${row[0]}: `, "same"], ...row[at], ["\n", "same"]]
  })
}

function drawText(box, runs) {
  const nodes = runs.map(([text, kind]) => {
    const node = document.createElement(kind === "same" ? "span" : "mark")
    node.className = kind
    node.textContent = text // never HTML, so texts appear unchanged
    return node
  })
  box.replaceChildren(...nodes)
  const likely = box.querySelector("mark.likely")
  box.scrollTop = likely ? Math.max(0, likely.offsetTop - box.clientHeight / 3) : 0
}

// Buttons must not move from pair to pair: the pair takes the height of the longest one that this page has had.
function fit(s) {
  const pair = s.root.querySelector(".pair")
  if (pair.hidden || !s.buffer.length) return
  s.longest = [s.longest, ...s.buffer].reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one))
  const measured = `${s.longest.id} ${pair.clientWidth} ${innerHeight} ${s.scale}`
  if (pair.dataset.measured === measured) return
  pair.dataset.measured = measured
  const probe = pair.cloneNode(true)
  delete probe.dataset.shown
  probe.removeAttribute("aria-live")
  probe.className = "pair probe"
  probe.style = `width: ${pair.clientWidth}px`
  pair.after(probe)
  drawPair(probe, s.longest)
  pair.style.minHeight = `${probe.offsetHeight}px`
  probe.remove()
}

function lengthOf(pair) {
  const lengths = (pair?.rows ?? []).map((row) => Math.max(...row.slice(1, 3).map(lengthOfRuns)))
  return lengths.reduce((sum, length) => sum + length, 0)
}

function lengthOfRuns(runs) {
  return runs.reduce((sum, [text]) => sum + text.length, 0)
}

function drawCandidates(s, find) {
  const group = candidates(s)
  drawText(find("[data-side=asked]"), group.length ? runsOf(group[0], "left") : [])
  const rows = group.map((pair, at) => {
    const chosen = s.marks.get(pair.id)
    const row = find(".candidate-template").content.firstElementChild.cloneNode(true)
    row.querySelector("kbd").textContent = at + 1
    const text = row.querySelector(".candidate-text")
    drawText(text, runsOf(pair, "right"))
    for (const [name, button] of [["positive", ".candidate-text"], ["unsure", ".candidate-unsure"]]) {
      const node = row.querySelector(button)
      node.dataset.candidate = at + 1
      node.dataset.mark = name
      node.setAttribute("aria-pressed", String(chosen === name))
    }
    return row
  })
  find(".candidates ol").replaceChildren(...rows)
  const yes = group.filter((pair) => s.marks.get(pair.id) === "positive").length
  find("[data-act=submit] .what").textContent = yes ? t("{n} of {all} match", { n: yes, all: group.length }) : t("None match")
}

function drawNote(s) {
  const pair = s.buffer[0], box = s.root.querySelector(".note"), field = box.querySelector("textarea")
  const note = pair ? (s.notes.get(pair.id) ?? "") : ""
  if (s.writing !== pair?.id || s.view.grouped) s.writing = null
  if (field.value !== note) {
    field.value = note
    box.querySelector(".note-cut").hidden = true
  }
  box.hidden = s.view.grouped || (!note && s.writing === null)
  s.root.querySelector("[data-act=note]").disabled = !pair || s.view.grouped
}

function drawClock(s, find) {
  drawProgress(s, find)
  drawEmpty(s, find)
}

function drawProgress(s, find) {
  const c = counts(s)
  find("progress").max = Math.max(c.size, 1)
  find("progress").value = c.answered
  find(".counts").textContent = s.view.title ? standing(s.view.title, c) : t("No batch yet")
  find(".pace").textContent = isDone(s, c) ? done(s.view.training) : pace(s, c.size - c.answered)
  const late = s.log.length && Date.now() - Date.parse(s.log[0].at) > 2 * RETRY
  const n = s.log.length, unsaved = late ? t("{n} not saved yet · kept in this browser", { n }) : t("{n} not saved yet", { n })
  find(".saved").textContent = n ? unsaved : t("All saved")
  find(".saved").dataset.count = s.saved
  find(".saved").classList.toggle("late", Boolean(late))
}

function standing(title, { answered, size, audits, extra, positives, all_positives: all }) {
  return [
    t("{title}: {answered} of {size} answered", { title, answered, size }),
    extra ? t("{n} extra", { n: extra }) : "",
    audits && audits < size ? t("{training} + {audits} for measuring", { training: size - audits, audits }) : "",
    all > positives ? t("{positives} positive ({all} in total)", { positives, all }) : t("{positives} positive", { positives }),
  ].filter(Boolean).join(" · ")
}

function isDone(s, { answered, size }) {
  return size > 0 && answered >= size && s.buffer.length > 0
}

// What the pairs after a complete batch are. The bar below says how long the next batch takes.
function done(training) {
  return training ? t("Done. The next batch is being prepared; these are extra pairs.") : t("Done. These are extra pairs.")
}

// The median of the last answers, capped as labelling time is: a coffee break is not reading time.
function pace(s, left) {
  if (s.paces.length < 5) return ""
  const lately = s.paces.slice(-PACED).sort((a, b) => a - b)
  const median = lately[Math.floor(lately.length / 2)], seconds = decimals(median, 1)
  const minutes = Math.max(1, Math.round((left * median) / 60))
  return left > 0 ? t("{seconds} s per pair · about {minutes} min left", { seconds, minutes }) : t("{seconds} s per pair", { seconds })
}

// The reason for a pair comes with the receipt; before the answer, the browser does not know it.
function last(s) {
  const entry = s.undo.at(-1)
  if (!entry) return ""
  if (entry.answer === "skip") return t("Last pair: skipped")
  const why = s.why[entry.pair.id]
  return t("Last answer: {answer}", { answer: t(ANSWERS[entry.answer]) }) + (why ? ` · ${why}` : "")
}

function refusal(refused) {
  if (!refused.length) return ""
  return tn("1 answer was not saved: {why}", "{n} answers were not saved: {why}", refused.length, { why: refused.at(-1) })
}

function toggleDifferences(s) {
  s.differences = !s.differences
  keep(DIFFERENCES, s.differences ? "on" : "off")
  draw(s)
}

function resize(s, factor) {
  s.scale = Math.min(2.5, Math.max(0.75, s.scale * factor))
  if (Math.abs(s.scale - 1) < 0.05) s.scale = 1
  keep(SCALE, s.scale)
  draw(s)
  fit(s)
}
