import { CircleCheck, CircleX, Keyboard, RefreshCw } from "lucide-react";
import { useAbout } from "@/api/hooks";
import type { About, Health } from "@/api/types";
import { openOverlay } from "@/frame/overlays";
import { useT } from "@/i18n";
import { Badge, Button, Card, CopyButton, cx, Elapsed, ErrorState, Facts, formatNumber, Page, Skeleton, Time } from "@/ui";

/** What runs here and whether it is well. */
export default function AboutPage() {
  const t = useT("about");
  const about = useAbout();
  return (
    <Page title={t("title")} lead={t("tagline")} width="text">
      {about.error && !about.data ? <ErrorState error={about.error} onRetry={() => void about.refetch()} /> : !about.data ? <Skeleton rows={8} /> : <Shown about={about.data} busy={about.isFetching} at={about.dataUpdatedAt} error={about.error} onCheck={() => void about.refetch()} />}
    </Page>
  );
}

function Shown({ about, busy, at, error, onCheck }: { about: About; busy: boolean; at: number; error: unknown; onCheck: () => void }) {
  const t = useT("about");
  const failing = about.health.filter((part) => part.status === "down" || part.status === "degraded");
  const serious = failing.some((part) => part.needed);
  const folder = (path: string) => <span className="flex items-center gap-1"><code className="min-w-0 font-mono text-sm wrap-anywhere">{path}</code><CopyButton text={path} /></span>;
  return (
    <div className="flex flex-col gap-5">
      {error ? <ErrorState inline error={error} onRetry={onCheck} /> : null}
      <Card pad={false} title={t("sec_health")} actions={<><Time key={at} relative at={at} className="text-xs text-ink-3 max-md:hidden" /><Button size="sm" disabled={busy} icon={<RefreshCw aria-hidden className={cx("size-3.5", busy && "animate-spin")} />} onClick={onCheck}>{busy ? t("checking") : t("check_again")}</Button></>}>
        <div role="status" className={cx("flex items-center gap-2.5 px-4 py-3 text-base font-medium", failing.length === 0 ? "text-ok" : serious ? "text-bad" : "text-warn")}>
          {failing.length === 0 ? <CircleCheck aria-hidden className="size-4.5" /> : <CircleX aria-hidden className="size-4.5" />}
          <span>{failing.length === 0 ? t("all_well") : t("some_failing", { count: failing.length })}{serious && <span className="block text-sm font-normal">{t("needed_failing")}</span>}</span>
        </div>
        <ul className="divide-y divide-line border-t border-line">{about.health.map((part) => <Part key={part.name} part={part} />)}</ul>
      </Card>
      <div className="grid gap-5 md:grid-cols-2">
        <Card title={t("sec_versions")}>
          <Facts items={[[t("version"), about.version], [t("commit"), about.commit ? <code key="c" className="font-mono text-sm">{about.commit.slice(0, 12)}</code> : "–"], [t("event_version"), about.event_version], ...(about.schema_version === undefined ? [] : [[t("schema_version"), about.schema_version] as [string, number]]), [t("database"), `${about.database === "sqlite" ? "SQLite" : "PostgreSQL"} ${about.database_version}`]]} />
        </Card>
        <Card title={t("sec_here")}>
          <Facts items={[[t("data_dir"), folder(about.data_dir)], [t("workspace"), folder(about.workspace)], [t("uptime"), <Elapsed key="u" from={about.started_at} />], [t("runs_at_work"), formatNumber(about.runs_at_work)]]} />
        </Card>
      </div>
      <Card title={t("sec_more")}>
        <div className="flex flex-wrap items-center gap-x-6 gap-y-3 text-base">
          <a href="/docs" className="text-accent-ink hover:underline">{t("docs")}</a>
          <a href="/api/openapi.json" className="text-accent-ink hover:underline">{t("openapi")}</a>
          <Button size="sm" icon={<Keyboard aria-hidden className="size-4" />} onClick={() => openOverlay("shortcuts")}>{t("shortcuts")}</Button>
        </div>
        <p className="mt-4 text-sm text-ink-3"><strong className="font-medium text-ink-2">{t("licence")}</strong> {t("licence_text")}</p>
      </Card>
    </div>
  );
}

function Part({ part }: { part: Health }) {
  const t = useT("about");
  const ok = part.status === "ok" || part.status === "off";
  return (
    <li className="grid grid-cols-[1.125rem_minmax(0,1fr)_max-content] items-start gap-x-3 px-4 py-2.5">
      {ok ? <CircleCheck aria-hidden className="mt-0.5 size-4 text-ok" /> : <CircleX aria-hidden className={cx("mt-0.5 size-4", part.needed ? "text-bad" : "text-warn")} />}
      <div className="min-w-0"><p className="text-base font-medium">{part.name}</p><p className="text-sm text-ink-3 wrap-anywhere">{part.detail}</p></div>
      <span className="flex items-center gap-2">{!part.needed && <Badge>{t("optional")}</Badge>}<span className={cx("text-sm", ok ? "text-ink-3" : part.needed ? "text-bad" : "text-warn")}>{ok ? t("ok") : t("failing")}</span></span>
    </li>
  );
}
