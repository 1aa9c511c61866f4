import { CircleCheck, CircleMinus, CircleX, RefreshCw, TriangleAlert } from "lucide-react";
import { useHealth } from "@/api/hooks";
import type { Health, PartStatus } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, cx, Duration, ErrorState, Skeleton, Time } from "@/ui";

const LOOKS = {
  ok: { icon: CircleCheck, colour: "text-ok" },
  degraded: { icon: TriangleAlert, colour: "text-warn" },
  down: { icon: CircleX, colour: "text-bad" },
  off: { icon: CircleMinus, colour: "text-ink-3" },
} as const satisfies Record<PartStatus, unknown>;

/** What the program needs and whether it answers, tried when somebody looks. */
export function HealthCard() {
  const t = useT("system");
  const health = useHealth(true);
  const report = health.data;
  const check = <Button size="sm" disabled={health.isFetching} icon={<RefreshCw aria-hidden className={cx("size-3.5", health.isFetching && "animate-spin")} />} onClick={() => void health.refetch()}>{health.isFetching ? t("checking") : t("check_again")}</Button>;
  return (
    <Card pad={false} title={t("sec_health")} actions={<>{report && <Time key={report.at} relative at={report.at} className="text-xs text-ink-3 max-md:hidden" />}{check}</>}>
      {health.error && <ErrorState inline className="m-3" error={health.error} />}
      {!report ? !health.error && <Skeleton rows={6} className="p-4" /> : (
        <>
          <p role="status" className={cx("px-4 py-3 text-base font-medium", LOOKS[report.status].colour)}>{t(`whole_${report.status}`)}</p>
          <ul className="divide-y divide-line border-t border-line">{[...report.parts].sort((a, b) => ORDER[a.status] - ORDER[b.status]).map((part) => <Part key={part.name} part={part} />)}</ul>
        </>
      )}
    </Card>
  );
}

const ORDER = { down: 0, degraded: 1, ok: 2, off: 3 } as const satisfies Record<PartStatus, number>;

function Part({ part }: { part: Health }) {
  const t = useT("system");
  const { icon: Icon, colour } = LOOKS[part.status];
  return (
    <li className="grid grid-cols-[1.125rem_minmax(0,1fr)_max-content] items-start gap-x-3 px-4 py-2.5">
      <Icon aria-hidden className={cx("mt-0.5 size-4", colour)} />
      <div className="min-w-0"><p className="flex flex-wrap items-center gap-2 text-base font-medium wrap-anywhere">{part.name}{part.needed && <Badge>{t("needed")}</Badge>}</p><p className="text-sm text-ink-3 wrap-anywhere">{part.detail}</p></div>
      <span className="flex flex-col items-end text-sm"><span className={colour}>{t(`status_${part.status}`)}</span><span className="text-xs text-ink-3"><Duration ms={part.ms} /></span></span>
    </li>
  );
}
