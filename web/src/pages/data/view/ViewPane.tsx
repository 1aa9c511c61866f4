import { Plus, RefreshCw, Save, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { mayWork, useFresh, useMe, useRows } from "@/api/hooks";
import type { Button as Part, DomainInfo, Row, View } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, cx, EmptyState, ErrorState, Skeleton, Tooltip } from "@/ui";
import { ChangeDialog } from "../parts/ChangeDialog";
import { useChange } from "../parts/useChange";
import { useLeaving } from "../parts/useLeaving";
import { deleteChange, type Draft, draftOf, isChanged, saveChange, typedOf, wantedOf } from "./draft";
import { type At, editable, keyOf, type Place, placeOf, presetOf, recordQuery, rowOf, selectOf, whyNot } from "./render";
import { RowsTable } from "./RowsTable";
import { Widget } from "./Widget";

type Props = {
  view: View;
  at: At;
  domains: readonly DomainInfo[];
  /** Domain of another view, by its name. */
  viewDomain: (view: string) => string | undefined;
  /** Asks again after so many ms; 0: only when asked to. */
  every: number;
  /** Nothing is written: the view is only looked at while it is made. */
  preview?: boolean;
  onOpen: (place: Place, asTab: boolean) => void;
  onAt: (at: At) => void;
  onDirty?: (dirty: boolean) => void;
};

const icons = { new: <Plus aria-hidden className="size-4" />, refresh: <RefreshCw aria-hidden className="size-4" />, save: <Save aria-hidden className="size-4" />, delete: <Trash2 aria-hidden className="size-4" /> };

/** Columns by how many widgets stand in a row. */
const WIDTHS = ["", "", "md:grid-cols-2", "md:grid-cols-3", "sm:grid-cols-2 lg:grid-cols-4"];

/** One view at work: toolbar, form and tables. */
export function ViewPane({ view, at, domains, viewDomain, every, preview, onOpen, onAt, onDirty }: Props) {
  const t = useT("data");
  const fresh = useFresh();
  const works = mayWork(useMe().data);
  const domain = domains.find((one) => one.name === view.domain);
  const adding = at?.kind === "new";
  const asked = useRows(domain && at?.kind === "row" ? recordQuery(domain, at.where) : null, every || undefined);
  const answer = at?.kind === "row" && !asked.isPlaceholderData ? asked.data : undefined;
  const record: Row | null = answer?.rows[0] ? rowOf(answer.columns, answer.rows[0]) : null;
  const about = JSON.stringify(at);
  const [draft, setDraft] = useState<Draft>({});
  // Another record is another form.
  useEffect(() => setDraft(at?.kind === "new" && domain ? draftOf(at.preset, domain) : {}), [about, domain?.name]);
  const wanted = domain ? wantedOf(draft, record, domain) : { set: {}, problems: {} };
  const dirty = isChanged(wanted) && (record !== null || adding);
  useEffect(() => onDirty?.(dirty), [dirty]);
  useEffect(() => () => onDirty?.(false), []);
  const { leave, question } = useLeaving();
  const changing = useChange((info) => {
    const { change, state } = info.change;
    if (state === "done") {
      setDraft({});
      if (change.change === "delete") onAt(null);
      // What was added is shown, where its key was given.
      else if (change.change === "insert") onAt(domain && keyOf(domain, change.set) ? { kind: "row", where: keyOf(domain, change.set)! } : null);
    }
  });
  if (!domain) return <EmptyState title={t("domain_gone", { domain: view.domain })}>{t("domain_gone_text")}</EmptyState>;

  const state = { record, adding, changed: dirty && Object.keys(wanted.problems).length === 0 && Object.keys(wanted.set).length > 0, mayWork: works };
  const add = (button: Part) => (button.target ? onOpen({ view: button.target.view, at: { kind: "new", preset: presetOf(domain, viewDomain(button.target.view) ?? "", record) } }, button.target.tab) : onAt({ kind: "new", preset: {} }));
  const act = (button: Part) => {
    if (button.action === "refresh") return void fresh("rows", "choices");
    // Another view is asked about by who opens it.
    if (button.action === "new") return leave(dirty && !button.target, () => add(button));
    const change = button.action === "save" ? saveChange(domain, adding ? null : record, wanted.set) : record && deleteChange(domain, record);
    if (change) changing.propose(change);
  };
  const select = (part: View["tables"][number], row: Row) => {
    const what = selectOf(view, part);
    const listed = domains.find((one) => one.name === part.domain);
    if (what?.kind === "fill") {
      const key = keyOf(domain, row);
      if (key) leave(dirty, () => onAt({ kind: "row", where: key }));
    } else if (what && listed) {
      const place = placeOf(what.target, row, listed, domains.find((one) => one.name === viewDomain(what.target.view)));
      if (place) onOpen(place, what.target.tab);
    }
  };
  const gone = at?.kind === "row" && answer && !record;
  return (
    <div className="flex flex-col gap-4" data-view={view.name}>
      {view.toolbar.length > 0 && (
        <div role="toolbar" aria-label={t("toolbar_of", { view: view.title })} className="flex flex-wrap gap-2">
          {view.toolbar.map((button, index) => {
            const why = preview && button.action !== "refresh" ? ("preview" as const) : whyNot(button, view, domain, state);
            const shown = <Button size="sm" key={index} variant={button.action === "save" ? "primary" : "default"} icon={icons[button.action]} disabled={why !== null || (changing.proposing && button.action !== "refresh")} loading={changing.proposing && button.action === "save"} onClick={() => act(button)}>{button.label}</Button>;
            // A disabled button takes no focus: what is said about it hangs on what is around it.
            return why === null ? shown : <Tooltip key={index} text={t(`why_${why}`)}><span className="inline-flex">{shown}</span></Tooltip>;
          })}
          {dirty && <span className="self-center text-sm text-warn">{t("not_saved")}</span>}
          {dirty && <Button size="sm" variant="quiet" onClick={() => setDraft(at?.kind === "new" ? draftOf(at.preset, domain) : {})}>{t("reset")}</Button>}
        </div>
      )}
      {changing.proposeError && <ErrorState inline error={changing.proposeError} />}
      {asked.error && at?.kind === "row" ? <ErrorState inline error={asked.error} onRetry={() => void asked.refetch()} /> : null}
      {gone && <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-base">{t("record_gone")}</p>}
      {view.sections.map((section, index) => (
        <Card key={index} title={section.title}>
          {at?.kind === "row" && !answer && !asked.error ? <Skeleton rows={3} /> : (
            <form aria-label={section.title} className="flex flex-col gap-4" onSubmit={(event) => (event.preventDefault(), view.toolbar.filter((button) => button.action === "save" && !preview && whyNot(button, view, domain, state) === null).slice(0, 1).forEach(act))}>
              {section.rows.map((row, line) => (
                <div key={line} className={cx("grid gap-4", WIDTHS[Math.min(row.length, WIDTHS.length - 1)])}>
                  {row.map((part, place) => {
                    const field = domain.fields.find((one) => one.name === part.field);
                    const problem = wanted.problems[part.field];
                    const value = draft[part.field] ?? (draft[part.field] === null ? null : field ? typedOf(record?.[part.field], field.kind) : "");
                    return <Widget key={`${part.field}-${place}`} part={part} domain={domain.name} field={field} value={value} disabled={(!record && !adding) || !editable(field, domain, adding, works)} problem={problem && t(problem)} onChange={(next) => setDraft((old) => ({ ...old, [part.field]: next }))} />;
                  })}
                </div>
              ))}
              <button type="submit" hidden tabIndex={-1} aria-hidden />
            </form>
          )}
        </Card>
      ))}
      {view.sections.length > 0 && !record && !adding && !gone && at === null && view.tables.some((part) => selectOf(view, part)?.kind === "fill") && <p className="text-sm text-ink-3">{t("choose_row")}</p>}
      {view.tables.map((part, index) => {
        const listed = domains.find((one) => one.name === part.domain);
        if (!listed) return <Card key={index} title={part.domain}><p className="text-base text-warn">{t("domain_gone", { domain: part.domain })}</p></Card>;
        return <RowsTable key={index} view={view} part={part} domain={listed} own={domain} record={adding ? null : record} every={dirty ? 0 : every} mayOpen={!preview || selectOf(view, part)?.kind === "fill"} onSelect={(row) => select(part, row)} />;
      })}
      {question}
      <ChangeDialog changing={changing} onLook={() => void fresh("rows")} />
    </div>
  );
}
