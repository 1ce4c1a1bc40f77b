// The texts of the pages' scripts in the language of the page, by their English text: the frame brings them. Of the labelling
// card, which Streamlit has once for all languages, also the texts of its HTML.

const ATTRIBUTES = ["aria-label", "data-label", "title", "placeholder"]
const ORDER = ["zero", "one", "two", "few", "many", "other"] // of plural forms
const SKIPPED = new Set(["SCRIPT", "STYLE"])

const texts = JSON.parse(document.getElementById("allpairs-words").textContent)
const language = document.documentElement.lang
const rules = new Intl.PluralRules(language)
const categories = ORDER.filter((category) => rules.resolvedOptions().pluralCategories.includes(category))

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place)
}

// The text, with these values at the places that it names in braces.
function t(text, values = {}) {
  return filled(texts[text]?.[0] ?? text, values)
}

// The text for the number n.
function tn(one, many, n, values = {}) {
  const forms = texts[one]
  const place = Math.min(categories.indexOf(rules.select(n)), (forms?.length ?? 0) - 1)
  return filled(forms?.[place] ?? (n === 1 ? one : many), { n, ...values })
}

// The number with so many decimals, in the digits of its neighbours.
function decimals(value, digits) {
  return value.toLocaleString(`${language}-u-nu-latn`, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

// Translate the texts and the attributes of all elements below this one, which are English.
function translate(root) {
  if (!Object.keys(texts).length) return
  for (const element of root.querySelectorAll("*")) {
    for (const name of ATTRIBUTES) if (element.hasAttribute(name)) element.setAttribute(name, t(element.getAttribute(name)))
    if (element instanceof HTMLTemplateElement) translate(element.content)
    for (const node of element.childNodes) if (node instanceof Text && !SKIPPED.has(element.tagName)) say(node)
  }
}

function say(node) {
  const written = node.data.trim(), text = written.replace(/\s+/g, " ")
  if (text in texts) node.data = node.data.replace(written, () => t(text))
}

window.allpairsLanguage = { t, tn, decimals, translate }
