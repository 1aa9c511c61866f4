import { Ellipsis, LockKeyhole, LockOpen, Pencil, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import { useReach, useRestricted } from "@/api/hooks";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ClassificationBadge, IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";
import { AccessButton } from "../../access/AccessButton";
import { CollectionDialog } from "./CollectionDialog";
import { Removal } from "./Removal";
import { Tuning } from "./Tuning";
import { isWorkspace } from "./target";

/** What is known of the chosen collection, and what can be done with it. */
export function CollectionHead({ collection, onRemoved }: { collection: Collection; onRemoved: () => void }) {
  const t = useT("documents");
  const edits = useReach("collection", collection.id, "edit") === true;
  const shares = useReach("collection", collection.id, "share") === true;
  const restricted = useRestricted(shares ? [collection.id] : []).get(collection.id);
  const [open, setOpen] = useState<"edit" | "tuning" | "removal" | null>(null);
  return (
    <header className="mb-4 flex flex-wrap items-start gap-x-3 gap-y-2">
      <div className="min-w-0 flex-1 max-md:min-w-3/5">
        <h2 className="text-lg font-semibold wrap-anywhere">{collection.name}</h2>
        {collection.description && <p className="text-base text-ink-2 whitespace-pre-wrap wrap-anywhere">{collection.description}</p>}
        <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-3">
          <span>{t("count_documents", { count: collection.documents })} · {t("count_chunks", { count: collection.chunks })}</span>
          {restricted !== undefined && <Badge icon={restricted ? <LockKeyhole aria-hidden /> : <LockOpen aria-hidden />}>{t(restricted ? "restricted" : "is_open")}</Badge>}
          {collection.classification && <ClassificationBadge level={collection.classification} />}
          {isWorkspace(collection) ? <span>{t("workspace_text")}</span> : <span>{t("made")} <Time relative at={collection.created_at} /></span>}
        </p>
      </div>
      <div className="flex items-center gap-2">
        <AccessButton kind="collection" id={collection.id} name={collection.name} />
        {edits && (
          <Menu trigger={<IconButton size="sm" label={t("collection_actions", { name: collection.name })}><Ellipsis /></IconButton>}>
            <MenuItem icon={<Pencil />} onSelect={() => setOpen("edit")}>{t("collection_edit")}</MenuItem>
            <MenuItem icon={<SlidersHorizontal />} onSelect={() => setOpen("tuning")}>{t("tuning")}</MenuItem>
            {shares && <><MenuSeparator /><MenuItem icon={<Trash2 />} danger onSelect={() => setOpen("removal")}>{t("collection_remove")}</MenuItem></>}
          </Menu>
        )}
      </div>
      {open === "edit" && <CollectionDialog collection={collection} onClose={() => setOpen(null)} />}
      {open === "tuning" && <Tuning collection={collection} onClose={() => setOpen(null)} />}
      {open === "removal" && <Removal collection={collection} onClose={() => setOpen(null)} onRemoved={onRemoved} />}
    </header>
  );
}
