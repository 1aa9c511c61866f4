import { Files, FolderPlus, Upload } from "lucide-react";
import { useState } from "react";
import { isOperator, mayWork, useCollections, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, EmptyState, Page, Skeleton, Tabs } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { CollectionDialog } from "./parts/CollectionDialog";
import { DocumentList } from "./parts/DocumentList";
import { DocumentSheet } from "./parts/DocumentSheet";
import { Folders } from "./parts/Folders";
import { TrySearch } from "./parts/TrySearch";
import { Uploads } from "./parts/Uploads";
import { useAdding, useMine } from "./parts/adding";
import { useSendRemovals } from "./parts/removing";

const TABS = ["documents", "search", "folders"] as const;

/** Files that are found by what they say: collections of them, what became of each, and a search to try. */
export default function DocumentsPage() {
  const t = useT("documents");
  const { data: me } = useMe();
  if (mayWork(me)) return <Studio folders={isOperator(me) && !!me?.installation} />;
  return <Page title={t("title")} width="text">{me ? <EmptyState icon={<Files />} title={t("not_allowed")}>{t("not_allowed_text")}</EmptyState> : <Skeleton rows={6} />}</Page>;
}

/** `folders`: whether they may name folders of the server, which are the installation's. */
function Studio({ folders }: { folders: boolean }) {
  const t = useT("documents");
  const [{ tab, collection, document, chunk, q }, set] = useFilters(["tab", "collection", "document", "chunk", "q"] as const);
  const collections = useCollections();
  const mine = useMine(collections.data);
  const [making, setMaking] = useState(false);
  const tabs = TABS.filter((name) => name !== "folders" || folders);
  const value = tabs.find((name) => name === tab) ?? "documents";
  const toList = (id: string) => set({ tab: "", collection: id, status: "", name: "" } as Record<string, string>);
  const adding = useAdding(mine, collection || null, (made) => toList(made.id));
  useSendRemovals();
  const open = (id: string, at = "") => set({ document: id, chunk: at });
  const content = {
    documents: <DocumentList collections={collections} chosen={collection} mine={mine ?? []} onOpen={open} onNew={() => setMaking(true)} onAdd={adding.choose} />,
    search: <TrySearch collections={collections.data ?? []} onOpen={open} onAdd={adding.choose} />,
    folders: <Folders collections={collections.data} onNew={() => setMaking(true)} />,
  };
  return (
    <Page
      title={t("title")}
      lead={t("lead")}
      actions={
        <>
          <Button size="sm" className="max-md:hidden" icon={<FolderPlus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>{t("collection_new")}</Button>
          <Button size="sm" variant={value === "documents" ? "primary" : "default"} icon={<Upload aria-hidden className="size-3.5" />} disabled={mine === null} {...(adding.where && { title: t("add_to", { name: adding.where }) })} onClick={adding.choose}>{t("add_files")}</Button>
        </>
      }
    >
      <Tabs label={t("title")} value={value} onChange={(next) => set({ tab: next === "documents" ? "" : next })} tabs={tabs.map((name) => ({ value: name, label: t(`tab_${name}`), content: name === value ? <>{name !== "documents" && <Uploads onOpen={open} />}{content[name]}</> : null }))} />
      {adding.parts}
      {making && <CollectionDialog collection={null} onClose={() => setMaking(false)} onMade={(made) => value === "documents" && toList(made.id)} />}
      {document && <DocumentSheet key={document} id={document} chunk={/^\d+$/.test(chunk) ? Number(chunk) : null} question={value === "search" ? q : ""} collections={collections.data ?? []} onChunk={(index) => open(document, index === null ? "" : String(index))} onClose={() => open("")} onCollection={(id) => set({ document: "", chunk: "", tab: "", collection: id })} />}
    </Page>
  );
}
