// Streamlit tells people "AxiosError: Request failed with status code 413" of an upload that failed: say what is the matter.

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
  const isOurs = upload.getResponseHeader("Content-Type")?.startsWith("text/plain")
  if (isOurs && upload.status < 500) return upload.responseText
  if (upload.status !== 413) return null
  const answer = await fetch("./proxy-report/upload", { method: "POST" }).catch(() => null)
  return answer?.ok ? answer.text() : null
}

function show() {
  if (!reason) return
  for (const error of document.querySelectorAll("[data-testid=stFileUploader] [role=alert]")) {
    for (const node of error.childNodes) if (node.data?.includes("AxiosError")) node.data = reason
  }
}

onChange(show)
