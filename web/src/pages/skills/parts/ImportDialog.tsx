import { useNavigate } from "@tanstack/react-router";
import { FileArchive, Upload } from "lucide-react";
import { type DragEvent, useEffect, useId, useRef, useState } from "react";
import { useAgents, usePackageActions } from "@/api/hooks";
import type { SkillPackage } from "@/api/types";
import { MAX_UPLOAD } from "@/api/upload";
import { useT } from "@/i18n";
import { Button, cx, Dialog, ErrorState, Field, formatBytes, Select, toast } from "@/ui";

type Props = { onClose: () => void; /** Whose skills they become; left out: it can be chosen. */ agent?: { id: string; name: string }; onImported?: (one: SkillPackage) => void };

/** Takes a package in from a file, dropped or chosen. */
export function ImportDialog({ onClose, agent, onImported }: Props) {
  const t = useT("skills");
  const navigate = useNavigate();
  const id = useId();
  const agents = useAgents();
  const { import: take } = usePackageActions();
  const [file, setFile] = useState<File | null>(null);
  const [chosen, setChosen] = useState("");
  const [over, setOver] = useState(false);
  const [share, setShare] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const refused = file && file.size > MAX_UPLOAD ? t("import_large", { size: formatBytes(file.size), most: formatBytes(MAX_UPLOAD) }) : file?.size === 0 ? t("import_none") : null;
  const choose = (next: File | undefined) => {
    if (!next) return;
    take.reset();
    setFile(next);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer.files[0]);
  };
  const send = () => {
    if (!file || refused) return;
    const to = agent?.id ?? chosen;
    stop.current = new AbortController();
    setShare(0);
    take.mutate(
      { file, ...(to && { agent: to }), onProgress: setShare, signal: stop.current.signal },
      {
        onSuccess: (one) => {
          onClose();
          onImported?.(one);
          const name = agent?.name ?? agents.items.find((other) => other.id === to)?.name ?? "";
          if (one.state === "active") toast({ title: to ? t("imported_given", { name: one.name, agent: name }) : t("imported_same", { name: one.name }) });
          else toast({ title: t("in_quarantine", { name: one.name }), ...(agent && { action: { label: t("look"), run: () => void navigate({ to: "/skills/packages/$packageName", params: { packageName: one.name } }) } }) });
          if (!agent) void navigate({ to: "/skills/packages/$packageName", params: { packageName: one.name } });
        },
      },
    );
  };
  const sending = take.isPending;
  return (
    <Dialog open onOpenChange={onClose} title={agent ? t("import_for", { agent: agent.name }) : t("import_title")} description={t(agent ? "import_for_text" : "import_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" disabled={!file || refused !== null} loading={sending} onClick={send}>{t("import_send")}</Button></>}>
      <div className="flex flex-col gap-4 pb-1">
        <div onDragOver={(event) => (event.preventDefault(), setOver(true))} onDragLeave={() => setOver(false)} onDrop={drop} className={cx("relative flex flex-col items-center gap-2 rounded-lg border border-dashed px-4 py-7 text-center focus-within:outline-2 focus-within:outline-focus", over ? "border-accent bg-accent-soft" : "border-line-2 bg-surface")}>
          {file ? <FileArchive aria-hidden className="size-6 stroke-[1.4] text-accent-ink" /> : <Upload aria-hidden className="size-6 stroke-[1.4] text-ink-3" />}
          <label htmlFor={id} className="text-base font-medium wrap-anywhere after:absolute after:inset-0 after:cursor-pointer">{file ? file.name : t("import_choose")}</label>
          <span className="text-xs text-ink-3">{file ? formatBytes(file.size) : t("import_kinds", { most: formatBytes(MAX_UPLOAD) })}</span>
          <input id={id} type="file" accept=".skill,.zip,application/zip" disabled={sending} className="sr-only" onChange={(event) => choose(event.target.files?.[0])} />
        </div>
        {refused && <p role="alert" className="text-sm text-bad">{refused}</p>}
        {sending && <div className="flex items-center gap-3"><progress aria-label={t("import_sending")} max={1} value={share} className="h-1.5 flex-1 accent-accent" /><span className="text-xs text-ink-3 tabular">{share < 1 ? `${Math.round(share * 100)} %` : t("import_scanning")}</span></div>}
        {take.error && <ErrorState inline error={take.error} />}
        {!agent && <Field label={t("import_agent")} hint={t("import_agent_hint")}>{(p) => <Select {...p} disabled={sending} value={chosen} onChange={(event) => setChosen(event.target.value)}><option value="">{t("nobody")}</option>{agents.items.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</Select>}</Field>}
      </div>
    </Dialog>
  );
}
