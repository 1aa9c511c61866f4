// Lets an operation be tried on the page: opening "Try it" makes a form of its parameters and body.
"use strict";

/** Longest answer that is shown, characters. */
const SHOWN = 100_000;
/** The key stays in this page, and is gone with it. */
let key = "";

const made = (tag, text, fields = {}) => Object.assign(document.createElement(tag), { textContent: text, ...fields });

/** A field with its label; `read` answers what is typed. */
function field(name, note, input) {
  const label = made("label", `${name} `);
  label.append(made("small", note), input);
  return label;
}

function open(details) {
  const { method, path, body, kind } = details.dataset;
  const form = document.createElement("form");
  const inputs = JSON.parse(details.dataset.parameters).map(({ name, in: place, required }) => {
    const input = made("input", "", { required, autocomplete: "off", spellcheck: false });
    form.append(field(name, required ? place : `${place}, may be left out`, input));
    return { name, place, input };
  });
  let content = null;
  if (kind === "application/json") {
    content = made("textarea", "", { value: JSON.stringify(JSON.parse(body), null, 2), rows: 8, spellcheck: false });
    form.append(field("body", kind, content));
  } else if (kind) {
    content = made("input", "", { type: "file" });
    form.append(field("body", kind, content));
  }
  if (!details.dataset.open) {
    const typed = made("input", "", { type: "password", value: key, autocomplete: "off" });
    typed.addEventListener("input", () => (key = typed.value.trim()));
    details.addEventListener("toggle", () => (typed.value = key));
    form.append(field("key", "sk-steward-… or an access token; it stays in this page", typed));
  }
  const send = made("button", `Send ${method.toUpperCase()}`);
  const answer = made("pre", "", { hidden: true, tabIndex: 0 });
  answer.setAttribute("aria-live", "polite");
  form.append(send);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    answer.hidden = false;
    answer.textContent = "…";
    answer.textContent = await asked(method, path, kind, inputs, content).catch((error) => String(error));
    send.disabled = false;
  });
  details.append(form, answer);
}

async function asked(method, path, kind, inputs, content) {
  const query = new URLSearchParams();
  const headers = new Headers();
  let target = path;
  for (const { name, place, input } of inputs) {
    if (place === "path") target = target.replace(new RegExp(`\\{\\*?${name}\\}`), encodeURIComponent(input.value));
    else if (input.value !== "") place === "query" ? query.append(name, input.value) : headers.set(name, input.value);
  }
  if (key) headers.set("authorization", `Bearer ${key}`);
  if (content) headers.set("content-type", kind);
  const address = query.size > 0 ? `${target}?${query}` : target;
  const begun = performance.now();
  const body = content && (content.type === "file" ? content.files[0] : content.value);
  const response = await fetch(address, { method: method.toUpperCase(), headers, body, credentials: "omit" });
  const text = await response.text();
  const took = Math.round(performance.now() - begun);
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: as it came.
  }
  const more = shown.length > SHOWN ? `\n… and ${shown.length - SHOWN} characters more` : "";
  return `${response.status} ${response.statusText} · ${took} ms · ${method.toUpperCase()} ${address}\n\n${shown.slice(0, SHOWN)}${more}`;
}

for (const details of document.querySelectorAll("details.try")) {
  details.hidden = false;
  details.addEventListener("toggle", () => details.open && !details.querySelector("form") && open(details));
}
