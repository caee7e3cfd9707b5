"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const source = button.parentElement.querySelector("pre"), label = button.textContent;
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = label; }, 1500);
      } catch {
        source.closest("details")?.setAttribute("open", "");
        getSelection().selectAllChildren(source);
      }
    });
  }
})();
