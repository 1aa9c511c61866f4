import { Fragment } from "react";
import { cx } from "./cx";

const apple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Keys, as in `Ctrl+K`; `Mod` is Ctrl, or Command on a Mac. */
export function Kbd({ keys, inverse }: { keys: string; inverse?: boolean }) {
  return (
    <span className="inline-flex items-center gap-0.5">
      {keys.split("+").map((key, index) => (
        <Fragment key={index}>
          <kbd className={cx("min-w-5 rounded-sm border px-1 text-center font-sans text-2xs leading-4", inverse ? "border-bg/35 text-bg" : "border-line-2 bg-surface text-ink-2")}>{key === "Mod" ? (apple ? "⌘" : "Ctrl") : key}</kbd>
        </Fragment>
      ))}
    </span>
  );
}
