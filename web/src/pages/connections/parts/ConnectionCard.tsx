import { CircleCheck, CircleX, Ellipsis, KeyRound, Lock, Pencil, Star, Trash2 } from "lucide-react";
import type { Connection, ConnectionTest } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ErrorState, formatDuration, formatNumber, IconButton, Menu, MenuItem, MenuSeparator, Spinner } from "@/ui";

type Props = {
  connection: Connection;
  operator: boolean;
  test: { busy: boolean; report: ConnectionTest | null; error: unknown } | undefined;
  onTest: () => void;
  onEdit: () => void;
  onDefault: () => void;
  onRemove: () => void;
};

export function ConnectionCard({ connection, operator, test, onTest, onEdit, onDefault, onRemove }: Props) {
  const t = useT("connections");
  const { auth, capabilities } = connection;
  const abilities = ([["json_schema", "cap_json_schema"], ["plans", "cap_plans"], ["summarises", "cap_summarises"], ["scoring", "cap_scoring"]] as const).filter(([name]) => capabilities[name]);
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-surface px-4 py-3.5">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold">{connection.name}{connection.default && <Badge tone="accent" icon={<Star aria-hidden className="fill-current" />} title={t("default_hint")}>{t("default")}</Badge>}</h2>
          <p className="text-base wrap-anywhere"><code className="font-mono text-sm">{connection.model}</code></p>
          <p className="text-sm text-ink-3 wrap-anywhere">{t(`provider_${connection.provider}`)}{connection.base_url && <> · <span className="font-mono text-xs">{connection.base_url}</span></>}</p>
        </div>
        <div className="flex items-center gap-1.5">
          {operator && <Button size="sm" loading={test?.busy ?? false} onClick={onTest}>{test?.report ? t("test_again") : t("test")}</Button>}
          {operator && (!connection.default || connection.editable) && (
            <Menu trigger={<IconButton size="sm" label={t("actions", { name: connection.name })}><Ellipsis /></IconButton>}>
              {!connection.default && <MenuItem icon={<Star />} onSelect={onDefault}>{t("make_default")}</MenuItem>}
              {connection.editable && <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("edit")}</MenuItem>}
              {connection.editable && <MenuSeparator />}
              {connection.editable && <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("remove")}</MenuItem>}
            </Menu>
          )}
        </div>
      </div>
      <p className="flex flex-wrap items-center gap-1.5">
        <Badge>{t("window", { n: formatNumber(capabilities.window) })}</Badge>
        <Badge>{t(`strategy_${capabilities.strategy}`)}</Badge>
        {abilities.map(([name, key]) => <Badge key={name}>{t(key)}</Badge>)}
        <Badge>{t("cap_max_tools", { n: capabilities.max_tools })}</Badge>
      </p>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-3">
        <span className="inline-flex items-center gap-1.5"><KeyRound aria-hidden className="size-3.5" />{auth.kind === "none" ? t("no_key") : t("key_in", { variable: auth.variable })}</span>
        <span className="inline-flex items-center gap-1.5" title={connection.editable ? undefined : t("fixed")}>{!connection.editable && <Lock aria-hidden className="size-3.5" />}{connection.from === "saved" ? t("from_saved") : connection.from}</span>
      </p>
      {test && (test.busy || test.report || test.error) ? <div role="status" className="border-t border-line pt-3"><Report test={test} onTest={onTest} /></div> : null}
    </li>
  );
}

function Report({ test, onTest }: { test: NonNullable<Props["test"]>; onTest: () => void }) {
  const t = useT("connections");
  if (test.busy) return <p className="flex items-center gap-2 text-base text-ink-2"><Spinner />{t("testing")}</p>;
  if (test.error) return <ErrorState inline error={test.error} onRetry={onTest} />;
  const { report } = test;
  if (!report) return null;
  if (!report.ok) {
    return (
      <div className="flex gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-base">
        <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="min-w-0"><p className="font-medium">{t("test_failed")}</p><p className="font-mono text-sm wrap-anywhere">{report.error}</p>{report.hint && <p className="mt-1 text-sm text-ink-2">{report.hint}</p>}</div>
      </div>
    );
  }
  const times = ([["accepted", report.accepted_ms], ["first", report.first_ms], ["total", report.total_ms]] as const).filter(([, ms]) => ms !== null);
  const longest = Math.max(1, ...times.map(([, ms]) => ms ?? 0));
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-base font-medium"><CircleCheck aria-hidden className="size-4 text-ok" />{t("test_ok")}<span className="text-sm font-normal text-ink-3">{t("answered_as", { model: report.model })}</span></p>
      <dl className="grid max-w-md grid-cols-[max-content_1fr_max-content] items-center gap-x-3 gap-y-1 text-sm">
        {times.map(([name, ms]) => <div key={name} className="contents"><dt className="text-ink-3">{t(name)}</dt><dd aria-hidden className="h-1.5 overflow-hidden rounded-full bg-active"><div className="h-full rounded-full bg-ok" style={{ width: `${((ms ?? 0) / longest) * 100}%` }} /></dd><dd className="text-right tabular">{formatDuration(ms ?? 0)}</dd></div>)}
      </dl>
      {report.text && <blockquote className="line-clamp-3 border-l-2 border-line-2 pl-3 text-sm text-ink-2 wrap-anywhere">{report.text}</blockquote>}
    </div>
  );
}
