import { useOpenApprovals } from "@/api/hooks";
import { useT } from "@/i18n";
import { Badge, cx, useTitle } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { Grants } from "./parts/Grants";
import { Inbox } from "./parts/Inbox";

const VIEWS = ["open", "closed", "grants"] as const;

/** What waits for a person, what was decided, and what is granted for longer. */
export default function ApprovalsPage() {
  const t = useT("approvals");
  useTitle(t("title"));
  const [{ view }, set] = useFilters(["view", "id"] as const);
  const { data: waiting = 0 } = useOpenApprovals();
  const chosen = VIEWS.find((name) => name === view) ?? "open";
  return (
    <div className="flex h-full min-w-0 flex-col">
      <header className="flex flex-wrap items-end gap-x-8 border-b border-line px-6 max-md:px-4">
        <h1 className="py-3 text-lg font-semibold max-md:w-full max-md:pb-0">{t("title")}</h1>
        <nav aria-label={t("title")} className="flex gap-5 overflow-x-auto overflow-y-hidden">
          {VIEWS.map((name) => (
            <button key={name} type="button" aria-current={chosen === name ? "page" : undefined} onClick={() => set({ view: name === "open" ? "" : name, id: "" })} className={cx("-mb-px flex shrink-0 items-center gap-1.5 border-b-2 py-3 text-base focus-visible:outline-offset-[-2px]", chosen === name ? "border-accent text-ink" : "border-transparent text-ink-3 hover:text-ink")}>
              {t(`tab_${name}`)}
              {name === "open" && waiting > 0 && <Badge tone="warn">{waiting}</Badge>}
            </button>
          ))}
        </nav>
      </header>
      <div className="min-h-0 flex-1">{chosen === "grants" ? <Grants /> : <Inbox key={chosen} status={chosen} />}</div>
    </div>
  );
}
