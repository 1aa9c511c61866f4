// Before the first paint: the theme that the user chose. A file of its own, because the content
// security policy forbids inline scripts.
(function () {
  try {
    var theme = localStorage.getItem("steward.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    var lang = localStorage.getItem("steward.lang");
    if (lang) document.documentElement.lang = lang;
  } catch (_) {
    // Storage is blocked: the system's theme is used.
  }
})();
