// After a link of the navigation was followed by keyboard, the focus goes to the new page's heading.
import { useEffect } from "react";

/** How long the page may take to come, ms. */
const PATIENCE = 3000;
let from: { path: string; at: number } | null = null;

/** For the links' `onClick`: a press of Enter counts as a click of no button. */
export const followed = ({ detail }: { detail: number }): void => {
  from = detail === 0 ? { path: window.location.pathname, at: performance.now() } : null;
};

/** Moves the focus once the page is there, unless the page has taken it itself. */
export function useHeadingFocus(path: string): void {
  useEffect(() => {
    if (!from || from.path === path) return;
    const { at } = from;
    from = null;
    if (performance.now() - at > PATIENCE) return;
    let frame = 0;
    const look = () => {
      const heading = document.querySelector<HTMLElement>("main h1");
      if (document.activeElement?.closest("main")) return;
      if (heading) {
        heading.tabIndex = -1;
        heading.focus();
      } else if (performance.now() - at < PATIENCE) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [path]);
}
