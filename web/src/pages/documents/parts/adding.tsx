// Takes files in: finds where they go, makes a first collection, asks where that is not clear.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { isOperator, useCollectionActions, useHeldGrants, useMe } from "@/api/hooks";
import { reaches } from "@/api/reach";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, Field, Select, toast } from "@/ui";
import { useDropped } from "./dropped";
import { useFailed } from "./failed";
import { isWorkspace, namesFor, targetOf } from "./target";
import { startUploads } from "./uploads";

/** Those to which one may add documents; null until that is known. */
export function useMine(all: readonly Collection[] | undefined): Collection[] | null {
  const { data: me } = useMe();
  const held = useHeldGrants(isOperator(me) ? undefined : me?.id);
  if (!me || !all || held.isLoading) return null;
  return all.filter((one) => reaches(me, held.data, "collection", one.id, "edit"));
}

type Adding = {
  /** Opens the choice of files. */
  choose: () => void;
  /** Where they go, as far as that is clear. */
  where: string | undefined;
  /** What belongs into the page: the field, the veil while files are held over it, the question. */
  parts: ReactNode;
};

export function useAdding(known: readonly Collection[] | null, chosen: string | null, onMade: (collection: Collection) => void): Adding {
  const t = useT("documents");
  const mine = known ?? [];
  const { data: me } = useMe();
  const client = useQueryClient();
  const failed = useFailed();
  const { create } = useCollectionActions();
  const [asking, setAsking] = useState<File[] | null>(null);
  const field = useRef<HTMLInputElement>(null);
  // What came before it was known where it may go.
  const early = useRef<File[]>([]);
  const making = useRef<Promise<Collection> | null>(null);

  const start = (files: File[], collection: Collection) => {
    // Where all are listed, nothing else shows where these went.
    if (collection.id !== chosen) toast({ about: "files-go", title: t("files_go", { count: files.length, name: collection.name }) });
    startUploads(files, collection, () => {
      // Cancelled first: a list that is asked for the first time would take an answer from before the file was there.
      for (const name of ["documents", "collections"]) void client.cancelQueries({ queryKey: [name] }).then(() => client.invalidateQueries({ queryKey: [name] }));
    });
  };
  const make = async (name: string): Promise<Collection> => {
    const names = namesFor(name, me?.name || me?.email || "");
    for (const [index, one] of names.entries()) {
      try {
        return await create.mutateAsync({ name: one, description: "" });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409) || index === names.length - 1) throw error;
      }
    }
    throw new Error(name);
  };
  const add = async (files: File[]) => {
    if (files.length === 0) return;
    if (!known) return void early.current.push(...files);
    const target = targetOf(mine, chosen);
    if (target.kind === "known") return start(files, target.collection);
    if (target.kind === "ask") return setAsking(files);
    try {
      // Two drops in a row make one collection.
      const fresh = making.current === null;
      making.current ??= make(target.name);
      const collection = await making.current;
      if (fresh) {
        toast({ title: t("collection_made", { name: collection.name }) });
        onMade(collection);
      }
      start(files, collection);
    } catch (error) {
      failed(error);
    } finally {
      making.current = null;
    }
  };
  useEffect(() => {
    if (known && early.current.length > 0) void add(early.current.splice(0));
  }, [known]);
  const over = useDropped((files) => void add(files));
  const target = targetOf(mine, chosen);
  const parts = (
    <>
      <input ref={field} type="file" multiple hidden tabIndex={-1} aria-label={t("choose_files")} onChange={(event) => (void add([...(event.target.files ?? [])]), (event.target.value = ""))} />
      {over && (
        <div aria-hidden className="pointer-events-none fixed inset-2 z-30 flex items-center justify-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/85">
          <p className="px-6 text-center text-lg font-semibold text-accent-ink">{target.kind === "known" ? t("drop_into", { name: target.collection.name }) : t("drop_here")}</p>
        </div>
      )}
      {asking && <WhereDialog count={asking.length} first={target.kind === "ask" ? target.first?.id : undefined} mine={mine.filter((one) => !isWorkspace(one))} onClose={() => setAsking(null)} onChosen={(collection) => (start(asking, collection), setAsking(null))} />}
    </>
  );
  return { choose: () => field.current?.click(), where: target.kind === "known" ? target.collection.name : target.kind === "make" ? target.name : undefined, parts };
}

function WhereDialog({ count, first, mine, onClose, onChosen }: { count: number; first: string | undefined; mine: Collection[]; onClose: () => void; onChosen: (collection: Collection) => void }) {
  const t = useT("documents");
  const [id, setId] = useState(first ?? mine[0]?.id ?? "");
  const chosen = mine.find((one) => one.id === id);
  return (
    <Dialog open onOpenChange={onClose} title={t("where_title", { count })} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" disabled={!chosen} onClick={() => chosen && onChosen(chosen)}>{t("add")}</Button></>}>
      <Field label={t("collection")} hint={t("where_hint")} className="pb-1">{(p) => <Select {...p} value={id} onChange={(event) => setId(event.target.value)}>{mine.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</Select>}</Field>
    </Dialog>
  );
}
