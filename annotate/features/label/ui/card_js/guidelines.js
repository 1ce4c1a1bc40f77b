// ---- the guidelines: beside the pair where there is room, else a dialog over it -----------------------------------------

const FOLDED = "allpairs:guidelines-folded:" // and the project
const ROOM = 800 // px of the card from which the guidelines stand beside the pair

function isRoomy(s) {
  return s.root.querySelector(".card").clientWidth >= ROOM
}

function giveRoom(s) {
  s.root.querySelector(".card").classList.toggle("roomy", isRoomy(s))
}

// They come once, not with every reply. A page that Streamlit draws anew gets them again.
function drawGuidelines(s) {
  s.guidelines = s.view.guidelines ?? s.guidelines
  const box = s.root.querySelector(".guidelines")
  if (!s.guidelines || box.dataset.version === s.guidelines.version) return
  const { version, html, examples } = s.guidelines
  const isNew = !box.dataset.version
  box.dataset.version = version
  box.querySelector(".none").hidden = Boolean(html)
  box.querySelector(".written").innerHTML = html // made by the server, with the author's own HTML as text
  for (const link of box.querySelectorAll(".written a")) Object.assign(link, { target: "_blank", rel: "noopener" })
  box.querySelector(".examples").hidden = !examples.length
  box.querySelector(".examples ul").replaceChildren(...examples.map((example) => exampleOf(box, example)))
  giveRoom(s)
  if (isNew && isRoomy(s)) box.open = recall(FOLDED + s.view.project) !== "yes" && Boolean(html || examples.length)
  drawKeys(s)
}

function exampleOf(box, { label, texts }) {
  const node = box.querySelector(".examples template").content.firstElementChild.cloneNode(true)
  node.querySelector("strong").textContent = label
  for (const [at, text] of node.querySelectorAll("p").entries()) text.textContent = texts[at]
  return node
}

function toggleGuidelines(s) {
  const box = s.root.querySelector(".guidelines")
  if (box.open) return closeGuidelines(s)
  if (isRoomy(s)) box.open = true // show() would take the focus from the pair
  else box.showModal()
  if (isRoomy(s)) keep(FOLDED + s.view.project, "no")
  drawKeys(s)
}

function closeGuidelines(s) {
  const box = s.root.querySelector(".guidelines")
  if (!box.matches(":modal")) keep(FOLDED + s.view.project, "yes")
  if (box.contains(s.root.querySelector(":focus"))) s.root.querySelector("[data-act=guidelines]").focus()
  box.close()
}
