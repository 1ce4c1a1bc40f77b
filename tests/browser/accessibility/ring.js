() => {
  let at = document.activeElement
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  if (at === document.body) return null
  const up = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host
  const rgba = (colour) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d")
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
  }
  const lightness = (colour) => {
    const [r, g, b] = rgba(colour).map((part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const said = `${at.tagName} ${at.dataset.testid ?? ""} ${at.ariaLabel ?? at.textContent.trim().slice(0, 30)}`
  let ringed = at
  for (let i = 0; i < 4 && ringed && getComputedStyle(ringed).outlineStyle !== "solid"; i++) ringed = up(ringed)
  if (!ringed) return { said, width: 0, contrast: 0 }
  const style = getComputedStyle(ringed)
  if (style.outlineStyle !== "solid") return { said, width: 0, contrast: 0 }
  let ground = parseFloat(style.outlineOffset) < 0 ? ringed : up(ringed)
  while (ground && rgba(getComputedStyle(ground).backgroundColor)[3] < 0.9) ground = up(ground)
  const both = [lightness(style.outlineColor), lightness(ground ? getComputedStyle(ground).backgroundColor : "#fff")]
  return { said, width: parseFloat(style.outlineWidth), contrast: (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05) }
}
