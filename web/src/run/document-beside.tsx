// The document that the address names, beside a conversation or a run.
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useCollections } from "@/api/hooks";
import { useFilters } from "@/pages/runs/parts/filters";

const DocumentSheet = lazy(() => import("@/pages/documents/parts/DocumentSheet").then((module) => ({ default: module.DocumentSheet })));

export function DocumentBeside() {
  const [{ document, chunk }, set] = useFilters(["document", "chunk"] as const);
  const navigate = useNavigate();
  const collections = useCollections(false, document !== "");
  if (!document) return null;
  return (
    <Suspense>
      <DocumentSheet
        key={document}
        id={document}
        chunk={/^\d+$/.test(chunk) ? Number(chunk) : null}
        question=""
        collections={collections.data ?? []}
        onChunk={(index) => set({ chunk: index === null ? "" : String(index) })}
        onClose={() => set({ document: "", chunk: "" })}
        onCollection={(collection) => void navigate({ to: "/documents", search: { collection } })}
      />
    </Suspense>
  );
}
