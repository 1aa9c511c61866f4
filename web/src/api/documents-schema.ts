// Until the API's document is taken over (`npm run gen`): the types of documents, in the form that it will have.
type Classification = import("./schema").components["schemas"]["Classification"];
export interface components {
  schemas: {
    Chunking: { max_chars?: number; overlap?: number };
    SearchWeights: { text?: number; vectors?: number };
    Collection: { id: string; name: string; description: string; chunking: components["schemas"]["Chunking"]; weights: components["schemas"]["SearchWeights"]; embedding_model?: string; classification?: Classification; created_by?: string; created_at: number; documents: number; chunks: number };
    CollectionInput: { name: string; description?: string; chunking?: components["schemas"]["Chunking"]; weights?: components["schemas"]["SearchWeights"]; classification?: Classification; open?: boolean };
    CollectionPatch: { name?: string; description?: string; chunking?: components["schemas"]["Chunking"]; weights?: components["schemas"]["SearchWeights"]; classification?: Classification };
    DocumentOrigin: "upload" | "path" | "workspace" | "package";
    DocumentStatus: "waiting" | "embedding" | "ready" | "failed" | "duplicate";
    DocumentProblem: { message: string; hint: string };
    ReadingFacts: { doc_type?: string; title?: string; pages?: number; scans?: number; warnings?: string[] };
    Document: { id: string; collection: string; name: string; origin: components["schemas"]["DocumentOrigin"]; source: string; bytes: number; sha256: string; status: components["schemas"]["DocumentStatus"]; problem?: components["schemas"]["DocumentProblem"]; attempts: number; chunks: number; embedded: number; facts: components["schemas"]["ReadingFacts"]; classification?: Classification; job?: string; added_by?: string; added_at: number; changed_at: number };
    DocumentDetails: components["schemas"]["Document"] & { agents: string[] };
    AddedAs: "new" | "changed" | "unchanged" | "duplicate";
    AddedDocument: { added: components["schemas"]["AddedAs"]; document: components["schemas"]["Document"] };
    ChunkArea: { page: number; x: number; y: number; width: number; height: number };
    Chunk: { index: number; text: string; headings: string[]; first_page: number; last_page: number; areas: components["schemas"]["ChunkArea"][]; method: string };
    DocumentLink: { document_id: string; agent_id: string; linked?: boolean };
    BatchScan: { path: string; collection: string; agent_id?: string };
    WatchInput: { path: string; collection: string };
    SearchMode: "hybrid" | "text" | "vectors";
    DocumentSearch: { query?: string; collections?: string[]; agent_id?: string; doc_type?: string; source_file?: string; upload_date_from?: string; upload_date_to?: string; limit?: number; mode?: components["schemas"]["SearchMode"] };
    FoundChunk: { document: string; collection: string; name: string; source: string; doc_type: string; added_at: number; chunk: components["schemas"]["Chunk"]; score: number; text_rank?: number; text_score?: number; vector_rank?: number; vector_score?: number };
    SearchResult: { found: components["schemas"]["FoundChunk"][]; documents: number; notice?: string; took_ms: number };
    VectorStoreStats: { backend: string; embedding_model: string; dimension: number; documents: number; chunks: number; vectors: number; index_bytes: number; behind: number };
    JobState: "scanning" | "running" | "paused" | "cancelled";
    JobProgress: { waiting: number; embedding: number; ready: number; failed: number; duplicate: number };
    IngestJob: { id: string; collection: string; label: string; state: components["schemas"]["JobState"]; created_by?: string; created_at: number; progress: components["schemas"]["JobProgress"] };
    JobRetried: { job: string; documents: number };
    WatchedPath: { id: string; collection: string; path: string; scanned_at?: number; problem?: components["schemas"]["DocumentProblem"] };
  };
}
