import { Lock, RotateCw, TriangleAlert, Undo2 } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError } from "@/api/client";
import { useConfig, useConfigWriter, useRestartHint } from "@/api/hooks";
import type { Config, ConfigField, ConfigGroup } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Card, CopyButton, cx, Dot, ErrorState, Field, IconButton, Input, Select, Skeleton, toast } from "@/ui";
import { type Changes, shown, stillOpen, typed, without } from "./changes";

const COLOURS = { app: "border-l-accent", database: "border-l-ok", worker: "border-l-warn-line", storage: "border-l-bad" } as const;

/** The settings in their groups. What was typed has an amber dot until it is saved. */
export function Settings() {
  const t = useT("system");
  const config = useConfig(true);
  const write = useConfigWriter();
  const [changes, setChanges] = useState<Changes>({});
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const count = Object.keys(changes).length;
  useEffect(() => {
    if (count === 0) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [count]);
  if (config.error && !config.data) return <ErrorState error={config.error} onRetry={() => void config.refetch()} />;
  if (!config.data) return <Skeleton rows={10} />;
  const wrong = new Map(error instanceof ApiError ? error.problems.map((one) => [one.field, one.hint]) : []);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const now = await write(changes);
      setChanges((open) => stillOpen(now, Object.fromEntries(Object.entries(open).filter(([name, value]) => changes[name] !== value))));
      toast({ title: now.restart_pending.length > 0 ? t("saved_restart") : t("saved"), about: "config" });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="flex flex-col gap-5" onSubmit={(event) => (event.preventDefault(), void save())}>
      <NotApplied config={config.data} />
      <Restart config={config.data} />
      {error ? <ErrorState inline error={error} /> : null}
      {config.data.groups.map((group) => <Group key={group.id} group={group} changes={changes} wrong={wrong} onChange={setChanges} />)}
      <div className={cx("sticky bottom-0 -mx-1 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-raised px-4 py-3", count === 0 && "invisible")}>
        <p role="status" className="flex min-w-0 flex-1 items-center gap-2 text-base">{count > 0 && <><Dot tone="warn" />{t("unsaved", { count })}</>}</p>
        <Button disabled={busy} onClick={() => (setChanges({}), setError(null))}>{t("revert")}</Button>
        <Button type="submit" variant="primary" loading={busy}>{t("save")}</Button>
      </div>
    </form>
  );
}

/** What the file or another node says and can't be used. */
function NotApplied({ config }: { config: Config }) {
  const t = useT("system");
  if (!config.not_applied) return null;
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-lg border border-warn-line/40 bg-warn-soft px-4 py-3 text-base">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{t("not_applied")}</p>
        <p className="mt-1 text-sm text-ink-2 wrap-anywhere">{config.not_applied}</p>
      </div>
    </div>
  );
}

function Restart({ config }: { config: Config }) {
  const t = useT("system");
  const pending = config.restart_pending.length > 0;
  const hint = useRestartHint(pending);
  if (!pending) return null;
  return (
    <div role="status" className="flex items-start gap-2.5 rounded-lg border border-warn-line/40 bg-warn-soft px-4 py-3 text-base">
      <RotateCw aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{t("restart", { names: config.restart_pending.join(", ") })}</p>
        {hint.data && <p className="mt-1 flex flex-wrap items-center gap-1.5 text-sm text-ink-2"><code className="font-mono wrap-anywhere">{hint.data.command}</code><CopyButton text={hint.data.command} /></p>}
      </div>
    </div>
  );
}

function Group({ group, changes, wrong, onChange }: { group: ConfigGroup; changes: Changes; wrong: Map<string, string>; onChange: (changes: Changes) => void }) {
  const t = useT("system");
  return (
    <Card pad={false} title={t(`group_${group.id}`)} className={cx("border-l-4", COLOURS[group.id])}>
      <ul className="divide-y divide-line">
        {group.fields.map((field) => <Setting key={field.name} field={field} changes={changes} wrong={wrong.get(field.name)} onChange={onChange} />)}
      </ul>
    </Card>
  );
}

function Setting({ field, changes, wrong, onChange }: { field: ConfigField; changes: Changes; wrong: string | undefined; onChange: (changes: Changes) => void }) {
  const t = useT("system");
  const changed = field.name in changes;
  const value = shown(field, changes);
  const type = (text: string) => onChange(typed(field, text, changes));
  const empty = field.secret && field.value !== null ? t("secret_set") : (field.default ?? field.default_text ?? "");
  const acts = field.why_restart ? t("effect_after_restart_why", { why: field.why_restart }) : t(`effect_${field.effect}`);
  const options = field.type === "switch" ? ["true", "false"] : (field.choices ?? []);
  return (
    <li className="grid gap-x-6 gap-y-1.5 px-4 py-3 md:grid-cols-[minmax(0,1fr)_minmax(0,22rem)]">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <code className="font-mono text-sm font-medium wrap-anywhere">{field.name}</code>
          {changed && <span className="inline-flex items-center gap-1 text-xs text-warn"><Dot tone="warn" />{t("not_saved")}</span>}
          <Badge tone={field.source === "default" ? "neutral" : "accent"} title={field.given_by}>{field.given_by ?? t(`source_${field.source}`)}</Badge>
          {field.pending && <Badge tone="warn">{t("pending")}</Badge>}
        </p>
        <p className="mt-0.5 text-sm text-ink-3 wrap-anywhere">{field.help}</p>
      </div>
      {field.changeable ? (
        <div className="flex min-w-0 items-start gap-1.5">
          <Field label={field.name} hint={acts} error={wrong} className="min-w-0 flex-1 [&>label]:sr-only">
            {(p) =>
              options.length > 0 ? (
                <Select {...p} className="w-full" value={value} onChange={(event) => type(event.target.value)}>
                  {!options.includes(value) && <option value="">{empty || "–"}</option>}
                  {options.map((option) => <option key={option} value={option}>{field.type === "switch" ? t(option === "true" ? "on" : "off") : option}</option>)}
                </Select>
              ) : (
                <Input {...p} type={field.secret ? "password" : "text"} inputMode={field.type === "number" ? "decimal" : undefined} autoComplete="off" spellCheck={false} placeholder={empty} value={value} onChange={(event) => type(event.target.value)} />
              )
            }
          </Field>
          {changed ? (
            <IconButton size="sm" label={t("revert_field", { name: field.name })} onClick={() => onChange(without(field.name, changes))}><Undo2 /></IconButton>
          ) : field.source === "database" ? (
            <Button size="sm" variant="quiet" aria-label={t("default_field", { name: field.name })} onClick={() => onChange({ ...changes, [field.name]: null })}>{t("default")}</Button>
          ) : null}
        </div>
      ) : (
        <div className="min-w-0">
          <p className={cx("flex items-center gap-1.5 text-base wrap-anywhere", field.value === null && "text-ink-3")}><Lock aria-hidden className="size-3.5 shrink-0 text-ink-3" />{field.value ?? (field.default_text || "–")}</p>
          <p className="mt-0.5 text-xs text-ink-3 wrap-anywhere">{acts} {field.why_not}</p>
        </div>
      )}
    </li>
  );
}
