import { useState } from "react";
import { usePackageDiff } from "@/api/hooks";
import type { SkillPackage } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Card, DiffView, ErrorState, Select, Skeleton } from "@/ui";
import { Fold } from "@/run/cards/text";

/** What a revision changes, file by file; of a first one that nobody accepted yet, its whole text. */
export function Changes({ shown, all }: { shown: SkillPackage; all: SkillPackage[] }) {
  const t = useT("skills");
  const active = all.find((one) => one.state === "active");
  const others = all.filter((one) => one.revision !== shown.revision);
  const usual = active && active.revision !== shown.revision ? active : others.find((one) => one.revision < shown.revision);
  const [chosen, setChosen] = useState<number | null>(usual?.revision ?? null);
  // Against nothing: only while nothing is in use, for else the server takes what is.
  if (chosen === null && active) return null;
  return (
    <Card title={t(chosen === null ? "content" : "changes")} pad={false} actions={others.length > 0 && <Select small aria-label={t("compare")} value={chosen ?? ""} onChange={(event) => setChosen(event.target.value === "" ? null : Number(event.target.value))}>{!active && <option value="">{t("compare_nothing")}</option>}{others.map((one) => <option key={one.revision} value={one.revision}>{t("compare_with", { n: one.revision })}</option>)}</Select>}>
      <Diffs name={shown.name} from={chosen} to={shown.revision} />
    </Card>
  );
}

function Diffs({ name, from, to }: { name: string; from: number | null; to: number }) {
  const t = useT("skills");
  const diff = usePackageDiff(name, { to, ...(from !== null && { from }) });
  if (diff.error) return <ErrorState inline error={diff.error} onRetry={() => void diff.refetch()} className="m-3" />;
  if (!diff.data) return <Skeleton rows={4} className="p-4" />;
  if (diff.data.length === 0) return <p className="px-4 py-3 text-base text-ink-2">{t("changes_none")}</p>;
  const tone = { added: "ok", removed: "bad" } as const;
  return (
    <ul aria-label={t("changes")} className="divide-y divide-line">
      {diff.data.map((file) => (
        <li key={file.path} className="px-4 py-2">
          <Fold open={diff.data.length === 1 || file.path === "SKILL.md"} summary={<span className="flex min-w-0 items-center gap-2"><code className="min-w-0 font-mono text-sm text-ink wrap-anywhere">{file.path}</code>{from !== null && <Badge tone={tone[file.change as keyof typeof tone] ?? "neutral"}>{t(`change_${file.change as "added" | "removed" | "changed"}`)}</Badge>}</span>}>
            {file.diff ? <DiffView diff={file.diff} className="mt-1.5" /> : <p className="mt-1 text-sm text-ink-3">{t("changes_binary")}</p>}
          </Fold>
        </li>
      ))}
    </ul>
  );
}
