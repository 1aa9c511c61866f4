import { useT } from "@/i18n";
import { Dialog, Kbd } from "@/ui";
import { openOverlay, useOverlay } from "./overlays";
import { useShortcuts } from "./shortcuts";

/** `?`: every shortcut that works now. */
export function ShortcutsDialog() {
  const t = useT("frame");
  const open = useOverlay() === "shortcuts";
  const shortcuts = useShortcuts();
  const groups = [["everywhere", t("shortcuts.everywhere")], ["go", t("shortcuts.go")], ["page", t("shortcuts.page")]] as const;
  return (
    <Dialog open={open} onOpenChange={(next) => openOverlay(next ? "shortcuts" : null)} title={t("shortcuts")}>
      <div className="flex flex-col gap-5 pb-4">
        {groups.map(([group, title]) => {
          const entries = shortcuts.filter((entry) => entry.group === group);
          return entries.length > 0 && (
            <section key={group}>
              <h3 className="mb-1.5 text-xs font-medium text-ink-3">{title}</h3>
              <ul>
                {entries.map((entry) => (
                  <li key={entry.keys} className="flex items-center justify-between border-t border-line py-1.5 text-base">
                    {entry.label}
                    <span className="flex gap-1.5">{entry.keys.split(" ").map((keys) => <Kbd key={keys} keys={keys} />)}</span>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
