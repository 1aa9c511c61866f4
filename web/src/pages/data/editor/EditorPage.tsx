import { AppWindow, Eye, History, Plus, Save, Table2, Trash2, WandSparkles } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { textService, useDatasources, useDomains, useDomainTextActions, useDomainTexts } from "@/api/hooks";
import type { DomainText, TextReport } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ConfirmDialog, cx, EmptyState, ErrorState, IconButton, Menu, MenuItem, MenuLabel, Skeleton, Spinner, toast } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { Area } from "../parts/Area";
import { handedOver } from "../parts/hand-over";
import { OperatorsOnly } from "../parts/OperatorsOnly";
import type { Handle } from "./CodeEditor";
import { afterSave, type Doc, type Docs, docOf, isDirty, keyOf, newDoc } from "./docs";
import { Preview } from "./Preview";
import { RenameDialog } from "./RenameDialog";
import { SaveDialog } from "./SaveDialog";
import { domainTemplate, freeName, viewTemplate } from "./templates";
import { Versions } from "./Versions";

const CodeEditor = lazy(() => import("./CodeEditor"));

/** The texts of domains and views. */
export function EditorPage() {
  const t = useT("data");
  return <OperatorsOnly title={t("editor_title")}><Texts /></OperatorsOnly>;
}

function Texts() {
  const t = useT("data");
  const texts = useDomainTexts();
  if (texts.error && !texts.data) return <Area title={t("editor_title")}><ErrorState error={texts.error} onRetry={() => void texts.refetch()} /></Area>;
  if (!texts.data) return <Area title={t("editor_title")}><Skeleton rows={8} /></Area>;
  return <Studio kept={texts.data} />;
}

function Studio({ kept }: { kept: DomainText[] }) {
  const t = useT("data");
  const [{ kind, name, handed }, set] = useFilters(["kind", "name", "handed"] as const);
  const [docs, setDocs] = useState<Docs>((): Docs => {
    const text = handed ? handedOver() : "";
    return text ? { "new-0": newDoc(text, t("handed")) } : {};
  });
  const [added, setAdded] = useState<string | null>(() => (handed && handedOver() ? "new-0" : null));
  const domains = useDomains();
  const sources = useDatasources();
  const number = useRef(1);
  const wanted = kind && name ? `${kind}/${name}` : null;
  const keptText = kept.find((one) => keyOf(one.kind, one.name) === wanted);
  const open = added ?? (keptText ? wanted : null);
  const doc: Doc | null = open === null ? null : (docs[open] ?? (keptText ? docOf(keptText) : null));
  const choose = (text: DomainText) => {
    const key = keyOf(text.kind, text.name);
    // What nobody changed is opened as it is kept now.
    if (key !== open && docs[key] && !isDirty(docs[key])) drop(key);
    setAdded(null);
    set({ kind: text.kind, name: text.name, handed: "" });
  };
  const start = (text: string, label: string) => {
    const key = `new-${number.current++}`;
    setDocs((old) => ({ ...old, [key]: newDoc(text, label) }));
    setAdded(key);
    set({ kind: "", name: "", handed: "" });
  };
  const put = (key: string, next: Doc) => setDocs((old) => ({ ...old, [key]: next }));
  const drop = (key: string) => {
    setDocs(({ [key]: _gone, ...rest }) => rest);
    if (added === key) setAdded(null);
  };
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => Object.values(docs).some(isDirty) && event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [docs]);
  const names = kept.map((one) => one.name);
  const template = (
    <Menu trigger={<Button size="sm" icon={<Plus aria-hidden className="size-4" />}>{t("new_text")}</Button>} align="start">
      <MenuItem icon={<Table2 />} onSelect={() => start(domainTemplate(sources.data?.[0]?.name ?? "shop"), t("new_domain"))}>{t("new_domain")}</MenuItem>
      {(domains.data ?? []).length > 0 && <MenuLabel>{t("new_view_of")}</MenuLabel>}
      {(domains.data ?? []).map((domain) => <MenuItem key={domain.name} icon={<AppWindow />} onSelect={() => start(viewTemplate(domain, freeName(domain.name, names)), t("new_view", { domain: domain.name }))}>{domain.name}</MenuItem>)}
    </Menu>
  );
  const entry = (key: string, label: string, active: boolean, dirty: boolean, onClick: () => void) => (
    <li key={key}><button type="button" aria-current={active || undefined} onClick={onClick} className={cx("flex w-full items-center gap-2 rounded-md px-2 py-1 text-left text-base wrap-anywhere hover:bg-hover", active ? "bg-active text-ink" : "text-ink-2")}><span className="min-w-0 flex-1">{label}</span>{dirty && <span aria-label={t("not_saved")} className="text-warn">•</span>}</button></li>
  );
  const group = (of: "domain" | "view") => {
    const list = kept.filter((one) => one.kind === of);
    return list.length > 0 && (
      <section aria-label={t(of === "domain" ? "domains" : "views")}>
        <h2 className="px-2 pt-2 pb-1 text-xs font-medium text-ink-3">{t(of === "domain" ? "domains" : "views")}</h2>
        <ul>{list.map((one) => { const key = keyOf(one.kind, one.name); return entry(key, one.name, open === key, !!docs[key] && isDirty(docs[key]), () => choose(one)); })}</ul>
      </section>
    );
  };
  const drafts = Object.entries(docs).filter(([, one]) => one.kind === null);
  return (
    <Area title={t("editor_title")} width="full">
      <div className="grid gap-4 lg:grid-cols-[14rem_minmax(0,1fr)]">
        <nav aria-label={t("texts")} className="flex flex-col gap-1 overflow-y-auto max-lg:max-h-56 lg:max-h-[calc(100dvh-11rem)]">
          {template}
          {drafts.length > 0 && <ul aria-label={t("drafts")} className="pt-2">{drafts.map(([key, one]) => entry(key, one.name, open === key, true, () => setAdded(key)))}</ul>}
          {group("domain")}
          {group("view")}
        </nav>
        {doc && open ? (
          <Writing
            key={open}
            doc={doc}
            kept={kept}
            onDoc={(next) => put(open, next)}
            onDrop={() => drop(open)}
            onSaved={(saved) => {
              const next = afterSave(docs, open, saved);
              setDocs(next.docs);
              setAdded(null);
              const first = saved[0]?.text;
              if (first) set({ kind: first.kind, name: first.name, handed: "" });
            }}
          />
        ) : (
          <EmptyState title={t(kept.length > 0 ? "choose_text" : "no_texts")}>{t(kept.length > 0 ? "choose_text_text" : "no_texts_text")}</EmptyState>
        )}
      </div>
    </Area>
  );
}

type WritingProps = { doc: Doc; kept: DomainText[]; onDoc: (doc: Doc) => void; onDrop: () => void; onSaved: Parameters<typeof SaveDialog>[0]["onSaved"] };

function Writing({ doc, kept, onDoc, onDrop, onSaved }: WritingProps) {
  const t = useT("data");
  const handle = useRef<Handle>(null);
  const { remove } = useDomainTextActions();
  const [report, setReport] = useState<TextReport | null>(null);
  const [lost, setLost] = useState<unknown>(null);
  const [cursor, setCursor] = useState(0);
  const [dialog, setDialog] = useState<"save" | "remove" | "versions" | null>(null);
  const [renaming, setRenaming] = useState<{ offset: number; word: string } | null>(null);
  const [preview, setPreview] = useState(true);
  const [formatting, setFormatting] = useState(false);
  const replace = (text: string) => handle.current?.replace(text);
  const now = useRef(doc);
  now.current = doc;
  // What was read stays what a save stands on, also when the list is read again meanwhile.
  useEffect(() => onDoc(doc), []);
  const format = async () => {
    setFormatting(true);
    setLost(null);
    try {
      replace((await textService.format(now.current.text)).text);
    } catch (error) {
      setLost(error);
    } finally {
      setFormatting(false);
    }
  };
  const rename = () => {
    const at = handle.current?.at();
    if (at?.word) setRenaming(at);
    else toast({ title: t("rename_nothing"), tone: "bad", about: "rename" });
  };
  const save = async () => {
    setLost(null);
    // What is shown may be older than the last letter.
    try {
      setReport(await textService.check(now.current.text));
      setDialog("save");
    } catch (error) {
      setLost(error);
    }
  };
  const diagnostics = report?.diagnostics ?? [];
  const origins = kept.find((one) => one.kind === doc.kind && one.name === doc.name)?.provenance?.origins ?? [];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div role="toolbar" aria-label={t("text_actions")} className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-base font-semibold wrap-anywhere">{doc.name}</h2>
        {doc.version !== null && <span className="text-sm text-ink-3 tabular">{t("version_n", { n: doc.version })}</span>}
        {isDirty(doc) && <span className="text-sm text-warn">{t("not_saved")}</span>}
        <span className="flex-1" />
        <Button size="sm" loading={formatting} icon={<WandSparkles aria-hidden className="size-3.5" />} onClick={() => void format()}>{t("format")}</Button>
        <Button size="sm" onClick={rename}>{t("rename")}</Button>
        {doc.kind !== null && <Button size="sm" icon={<History aria-hidden className="size-3.5" />} onClick={() => setDialog("versions")}>{t("versions")}</Button>}
        <Button size="sm" variant={preview ? "default" : "quiet"} aria-pressed={preview} icon={<Eye aria-hidden className="size-3.5" />} onClick={() => setPreview(!preview)}>{t("preview")}</Button>
        {doc.kind !== null ? <IconButton size="sm" label={t("remove_of", { name: doc.name })} onClick={() => setDialog("remove")}><Trash2 /></IconButton> : <Button size="sm" variant="quiet" onClick={onDrop}>{t("drop_draft")}</Button>}
        <Button size="sm" variant="primary" icon={<Save aria-hidden className="size-3.5" />} disabled={!isDirty(doc) && origins.length === 0} onClick={() => void save()}>{t("save")}</Button>
      </div>
      {origins.length > 0 && <p className="rounded-md bg-warn-soft px-3 py-1.5 text-base wrap-anywhere">{t("text_origins", { origins: origins.join(", ") })}</p>}
      {lost ? <ErrorState inline error={lost} /> : null}
      <div className={cx("grid gap-4", preview && "2xl:grid-cols-2")}>
        <div className="flex min-w-0 flex-col gap-2">
          <div className="h-[min(34rem,60dvh)] overflow-hidden rounded-lg border border-line">
            <Suspense fallback={<p className="flex items-center gap-2 p-4 text-base text-ink-2"><Spinner />{t("loading_editor")}</p>}>
              <CodeEditor
                key={`${doc.kind}/${doc.name}`}
                text={doc.text}
                label={t("text_of", { name: doc.name })}
                handle={handle}
                onChange={(text) => onDoc({ ...now.current, text })}
                onCursor={setCursor}
                onReport={(next, error) => (setLost(error ?? null), next && setReport(next))}
                onRename={rename}
                onSave={() => (isDirty(now.current) || origins.length > 0) && void save()}
              />
            </Suspense>
          </div>
          <section aria-label={t("problems")} className="text-sm">
            {report === null ? null : diagnostics.length === 0 ? <p role="status" className="text-ok">{t("no_problems")}</p> : (
              <ul className="flex flex-col gap-1">
                {diagnostics.map((one, at) => (
                  <li key={at}><button type="button" onClick={() => handle.current?.goTo(one.from)} className={cx("w-full rounded-md px-2.5 py-1 text-left wrap-anywhere", one.error ? "bg-bad-soft" : "bg-warn-soft")}><b className="font-medium">{t(one.error ? "error_line" : "warning_line", { line: one.line })}</b> {one.message} {one.hint && <span className="text-ink-2">{one.hint}</span>}</button></li>
                ))}
              </ul>
            )}
          </section>
        </div>
        {preview && <section aria-label={t("preview")} className="min-w-0 rounded-lg border border-dashed border-line-2 p-3"><Preview text={doc.text} cursor={cursor} /></section>}
      </div>
      {dialog === "save" && (
        <SaveDialog
          doc={doc}
          report={report}
          kept={kept}
          onClose={() => setDialog(null)}
          onSaved={(saved) => (setDialog(null), onSaved(saved))}
          onTheirs={(theirs, take) => {
            onDoc({ ...now.current, base: theirs.text, version: theirs.version, ...(take && { text: theirs.text }) });
            if (take) replace(theirs.text);
          }}
        />
      )}
      {dialog === "versions" && doc.kind !== null && <Versions kind={doc.kind} name={doc.name} current={doc.version} onRestore={replace} onClose={() => setDialog(null)} />}
      {dialog === "remove" && doc.kind !== null && (
        <ConfirmDialog open danger busy={remove.isPending} onOpenChange={() => (remove.reset(), setDialog(null))} title={t("remove_text_title", { name: doc.name })} description={t("remove_text_text")} confirm={t("remove")} onConfirm={() => doc.kind !== null && remove.mutate({ kind: doc.kind, name: doc.name }, { onSuccess: () => (toast({ title: t("text_removed", { name: doc.name }) }), onDrop()) })}>
          {remove.error ? <ErrorState inline error={remove.error} /> : null}
        </ConfirmDialog>
      )}
      {renaming && <RenameDialog text={doc.text} {...renaming} onClose={() => setRenaming(null)} onRenamed={replace} />}
    </div>
  );
}
