import { CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { SkillPackage } from "@/api/types";
import { useT } from "@/i18n";
import { Card, cx } from "@/ui";

const ORDER = ["danger", "warning", "info"] as const;
const colours = { danger: "text-bad", warning: "text-warn", info: "text-ink-3" };

/** What the scan found, the worst first. */
export function Findings({ findings }: { findings: SkillPackage["findings"] }) {
  const t = useT("skills");
  if (findings.length === 0) return <p className="flex items-center gap-2 text-base text-ink-2"><CircleCheck aria-hidden className="size-4 text-ok" />{t("findings_none")}</p>;
  const sorted = [...findings].sort((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
  return (
    <Card title={t("findings")} pad={false}>
      <ul aria-label={t("findings")} className="divide-y divide-line">
        {sorted.map((one) => {
          const Icon = one.severity === "info" ? Info : TriangleAlert;
          return (
            <li key={`${one.file}:${one.line}:${one.rule}:${one.message}`} className="flex items-start gap-3 px-4 py-2.5">
              <Icon aria-hidden className={cx("mt-0.5 size-4 shrink-0", colours[one.severity])} />
              <div className="min-w-0 flex-1">
                <p className="text-base wrap-anywhere"><span className={cx("font-medium", colours[one.severity])}>{t(`severity_${one.severity}`)}:</span> {one.message}</p>
                <p className="text-xs text-ink-3 wrap-anywhere"><code className="font-mono">{one.file}{one.line > 0 && `:${one.line}`}</code> · {one.rule}</p>
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
