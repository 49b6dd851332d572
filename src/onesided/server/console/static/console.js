"use strict";
// Pages work without this. With it, prices follow what is typed, times count down, code is copied.
const textOf = (value) => new URLSearchParams(new FormData(value)).toString();

// A form whose part #live follows what is typed: at most one request at a time, always the latest.
for (const form of document.querySelectorAll("form[data-live]")) {
  const live = form.querySelector("#live");
  let busy = false, late = false, last = textOf(form);
  const update = async () => {
    if (busy) { late = true; return; }
    const said = textOf(form);
    if (said === last) return;
    busy = true; last = said;
    try {
      const answer = await fetch(form.dataset.live, {
        method: "POST", body: said, redirect: "manual",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      });
      if (answer.ok) show(await answer.text());
    } catch { /* without a network the page stays as it is */ }
    busy = false;
    if (late) { late = false; update(); }
  };
  const parts = () => [live, ...form.querySelectorAll(".part")];
  const show = (text) => {
    const open = parts().map((part) => [...part.querySelectorAll("details")].map((each) => each.open));
    const focused = parts().some((part) => part.contains(document.activeElement)) ? document.activeElement.value : null;
    const parsed = new DOMParser().parseFromString(text, "text/html");
    live.replaceChildren(...parsed.body.childNodes);
    for (const moved of live.querySelectorAll("[data-into]")) {
      document.getElementById(moved.dataset.into)?.replaceChildren(...moved.childNodes);
      moved.remove();
    }
    parts().forEach((part, place) => {
      part.querySelectorAll("details").forEach((each, at) => { each.open = open[place][at] ?? each.open; });
    });
    if (focused !== null) {
      parts().flatMap((part) => [...part.querySelectorAll("input")]).find((each) => each.value === focused)?.focus();
    }
    beside(form);
    copiers(form);
  };
  form.addEventListener("input", update);
  form.addEventListener("change", update);
}

// What is wrong with a field stands beside it, as it does on a page that the server made.
function beside(form) {
  for (const each of form.querySelectorAll(".fault")) { each.hidden = true; each.textContent = ""; }
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
  const said = form.querySelector("[data-fault]");
  const place = said?.dataset.fault && document.getElementById(`fault-${said.dataset.fault}`);
  if (!place) return;
  place.textContent = said.textContent;
  place.hidden = false;
  form.querySelector(`[aria-describedby~="${place.id}"]`)?.setAttribute("aria-invalid", "true");
  said.textContent = "Not as it stands: see beside the field.";
}

// The slider beside a price, by equal factors.
for (const field of document.querySelectorAll(".slide input[inputmode=decimal]")) {
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: -2, max: 1, step: 0.01 });
  slider.setAttribute("aria-label", "The same as a slider");
  const place = () => { const now = Number(field.value); if (now > 0) slider.value = Math.log10(now); };
  place();
  slider.addEventListener("input", () => {
    field.value = String(Number((10 ** Number(slider.value)).toPrecision(2)));
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", (event) => { if (event.isTrusted) place(); });
  field.after(slider);
}

// Code to copy.
function copiers(within) {
  if (!navigator.clipboard) return;
  for (const way of within.querySelectorAll(".way")) {
    if (way.querySelector(".copy")) continue;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "plain copy", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy ${way.querySelector("h3").textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(way.querySelector("code").textContent);
      button.textContent = "Copied";
    });
    way.append(button);
  }
}
copiers(document);

// Where tabs are wider than the window, the current one is in sight.
document.querySelector(".kinds [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// Deadlines count down; the page itself comes again when one is over.
const began = performance.now();
const clocks = [...document.querySelectorAll("time[data-left]")];
const tick = () => {
  for (const clock of clocks) {
    const left = Math.max(0, Math.ceil(Number(clock.dataset.left) - (performance.now() - began) / 1000));
    clock.textContent = `${clock.getAttribute("datetime").slice(11, 19)} UTC, in ${left} s`;
  }
};
if (clocks.length) { tick(); setInterval(tick, 1000); }
