// Below a file that did not arrive: why, in place of Streamlit's "AxiosError: Request failed with status code 413".

import { onChange } from "./changes.js"

const { t } = window.allpairsLanguage
const { open } = XMLHttpRequest.prototype
let reason = ""

XMLHttpRequest.prototype.open = function (method, address, ...more) {
  if (/put/i.test(method) && String(address).includes("/_stcore/upload_file/")) this.addEventListener("loadend", () => learn(this))
  return open.call(this, method, address, ...more)
}

async function learn(upload) {
  if (upload.status >= 200 && upload.status < 300) return
  reason = ""
  reason = (await why(upload)) ?? t("The file did not arrive: the connection was lost. Try again.")
  show()
}

async function why(upload) {
  const kind = upload.getResponseHeader("Content-Type") ?? ""
  if (kind.startsWith("application/problem+json")) return JSON.parse(upload.responseText).detail
  if (kind.startsWith("text/plain") && upload.status < 500) return upload.responseText
  if (upload.status !== 413) return null
  const answer = await fetch("./proxy-report/upload", { method: "POST" }).catch(() => null)
  return answer?.ok ? answer.text() : null
}

// Streamlit shows what is wrong with a file only where the pointer rests on its icon, and to screen readers.
function show() {
  for (const uploader of document.querySelectorAll("[data-testid=stFileUploader]")) {
    const alerts = [...uploader.querySelectorAll("[role=alert]")]
    for (const alert of alerts) explain(alert)
    const words = alerts.map((alert) => alert.textContent.replace(/^Error: /, "")).join(" ")
    let line = uploader.querySelector(".allpairs-upload")
    if (!words) line?.remove()
    else if (!line) uploader.append(Object.assign(document.createElement("p"), { className: "allpairs-upload", ariaHidden: "true" }))
    line = uploader.querySelector(".allpairs-upload")
    if (line && line.textContent !== words) line.textContent = words
  }
}

function explain(alert) {
  for (const node of alert.childNodes) if (reason && node.data?.includes("AxiosError")) node.data = reason
}

onChange(show)
