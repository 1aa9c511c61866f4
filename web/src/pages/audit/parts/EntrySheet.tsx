import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AuditEntry } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CopyButton, Facts, formatExact, Sheet } from "@/ui";
import { OriginLabel } from "../../runs/parts/Labels";
import type { Wanted } from "./Filters";
import { Actor, ResultBadge } from "./labels";

/** All of one entry. */
export function EntrySheet({ entry, onClose, onFilter }: { entry: AuditEntry; onClose: () => void; onFilter: (patch: Partial<Wanted>) => void }) {
  const t = useT("audit");
  const mono = (text: string) => <span className="font-mono text-sm">{text}</span>;
  const facts: [ReactNode, ReactNode][] = [
    [t("when"), formatExact(entry.at)],
    [t("actor"), <Actor key="actor" entry={entry} />],
    ...(entry.origin ? [[t("origin"), <OriginLabel key="origin" origin={entry.origin} />] as [ReactNode, ReactNode]] : []),
    ...(entry.address ? [[t("address"), mono(entry.address)] as [ReactNode, ReactNode]] : []),
    [t("action"), mono(entry.action)],
    ...(entry.target ? [[t("target"), mono(entry.target)] as [ReactNode, ReactNode]] : []),
    [t("result"), <ResultBadge key="result" result={entry.result} />],
    ...(entry.run_id ? [[t("run"), <Link key="run" to="/runs/$runId" params={{ runId: entry.run_id }} className="text-accent-ink hover:underline">{t("open_run")}</Link>] as [ReactNode, ReactNode]] : []),
  ];
  const details = Object.entries(entry.detail).map(([name, value]): [ReactNode, ReactNode] => [mono(name), mono(typeof value === "string" ? value : JSON.stringify(value))]);
  return (
    <Sheet open onOpenChange={(open) => !open && onClose()} title={t("entry", { seq: entry.seq })}>
      <div className="flex flex-col gap-5 p-4">
        <Facts items={facts} />
        {details.length > 0 && (
          <section>
            <h3 className="mb-2 text-sm font-medium">{t("details")}</h3>
            <Facts items={details} />
          </section>
        )}
        <section>
          <h3 className="mb-1 flex items-center gap-2 text-sm font-medium">{t("hash")}<CopyButton text={`${entry.seq}:${entry.hash}`} label={t("copy_hash")} /></h3>
          <p className="font-mono text-xs wrap-anywhere text-ink-2">{entry.hash}</p>
        </section>
        <div className="flex flex-wrap gap-2">
          {entry.actor && <Button size="sm" onClick={() => onFilter({ actor: entry.actor })}>{t("more_actor")}</Button>}
          {entry.target && <Button size="sm" onClick={() => onFilter({ target: entry.target })}>{t("more_target")}</Button>}
          {entry.run_id && <Button size="sm" onClick={() => onFilter({ run: entry.run_id ?? "" })}>{t("more_run")}</Button>}
        </div>
      </div>
    </Sheet>
  );
}
