import { FolderSearch } from "lucide-react";
import { useState } from "react";
import { useDocumentActions, useFolderActions, useVectorStore } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, EmptyState, ErrorState, Facts, Field, formatBytes, formatNumber, Input, Select, Skeleton, toast } from "@/ui";
import { useFailed } from "./failed";
import { Jobs } from "./Jobs";
import { isWorkspace } from "./target";
import { Watched } from "./Watched";

/** Folders of the server, for operators: read once or watched, and how far that is. */
export function Folders({ collections, onNew }: { collections: Collection[] | undefined; onNew: () => void }) {
  const t = useT("documents");
  if (!collections) return <Skeleton rows={6} />;
  const targets = collections.filter((one) => !isWorkspace(one));
  const nameOf = (id: string) => collections.find((one) => one.id === id)?.name ?? "";
  return (
    <div className="flex flex-col gap-5">
      <Card title={t("folder_title")}>{targets.length === 0 ? <EmptyState icon={<FolderSearch />} title={t("folder_no_collection")} action={<Button variant="primary" onClick={onNew}>{t("collection_new")}</Button>}>{t("folder_no_collection_text")}</EmptyState> : <FolderForm targets={targets} />}</Card>
      <Card title={t("jobs")} pad={false}><Jobs nameOf={nameOf} /></Card>
      <Card title={t("watched")} pad={false}><Watched nameOf={nameOf} /></Card>
      <Card title={t("in_use")} actions={<Pending />}><InUse /></Card>
    </div>
  );
}

function FolderForm({ targets }: { targets: Collection[] }) {
  const t = useT("documents");
  const { scan, watch } = useFolderActions();
  const [path, setPath] = useState("");
  const [collection, setCollection] = useState("");
  const [tried, setTried] = useState(false);
  const to = targets.find((one) => one.id === collection) ?? targets[0];
  const problem = path.trim() === "" ? t("path_missing") : null;
  const send = (how: "scan" | "watch") => {
    setTried(true);
    scan.reset();
    watch.reset();
    if (problem || !to) return;
    const body = { path: path.trim(), collection: to.id };
    const done = () => (setPath(""), setTried(false), toast({ title: t(how === "scan" ? "scan_begun" : "watch_begun", { path: body.path }) }));
    if (how === "scan") scan.mutate(body, { onSuccess: done });
    else watch.mutate(body, { onSuccess: done });
  };
  const error = scan.error ?? watch.error;
  return (
    <form noValidate className="flex flex-col gap-3" onSubmit={(event) => (event.preventDefault(), send("scan"))}>
      <p className="max-w-prose text-base text-ink-2">{t("folder_text")}</p>
      <div className="flex flex-wrap items-start gap-3">
        <Field label={t("folder_path")} hint={t("folder_path_hint")} error={tried ? problem : null} className="min-w-60 flex-1">{(p) => <Input {...p} className="font-mono text-sm" autoComplete="off" spellCheck={false} maxLength={limits.WatchInput.path.maxLength} placeholder="/srv/contracts" value={path} onChange={(event) => setPath(event.target.value)} />}</Field>
        <Field label={t("collection")} className="min-w-40">{(p) => <Select {...p} value={to?.id ?? ""} onChange={(event) => setCollection(event.target.value)}>{targets.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</Select>}</Field>
      </div>
      {error && <ErrorState inline error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" loading={scan.isPending}>{t("scan")}</Button>
        <Button loading={watch.isPending} onClick={() => send("watch")}>{t("watch")}</Button>
      </div>
    </form>
  );
}

/** Tries all that failed again, such as after a model was away. */
function Pending() {
  const t = useT("documents");
  const failed = useFailed();
  const { pending } = useDocumentActions();
  return <Button size="sm" loading={pending.isPending} onClick={() => pending.mutate(undefined, { onSuccess: ({ documents }) => toast({ title: t("pending_toast", { count: documents }) }), onError: failed })}>{t("pending")}</Button>;
}

/** What vectors are made with and how much there is of it. */
function InUse() {
  const t = useT("documents");
  const stats = useVectorStore();
  if (stats.error) return <ErrorState inline error={stats.error} onRetry={() => void stats.refetch()} />;
  if (!stats.data) return <Skeleton rows={4} />;
  const { embedding_model, dimension, backend, documents, chunks, vectors, index_bytes, behind } = stats.data;
  return (
    <Facts
      items={[
        [t("model"), t("model_value", { model: embedding_model, dimension: formatNumber(dimension) })],
        [t("index"), t("index_value", { backend, size: formatBytes(index_bytes) })],
        [t("title"), formatNumber(documents)],
        [t("chunks"), t("chunks_vectors", { chunks: formatNumber(chunks), vectors: formatNumber(vectors) })],
        ...(behind > 0 ? [[t("behind"), t("behind_value", { count: behind })] as [string, string]] : []),
      ]}
    />
  );
}
