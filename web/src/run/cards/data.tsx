/** Rows of a result's data, where it has that form (the sql tool). */
export function rowsOf(data: unknown): { columns: string[]; rows: unknown[][] } | null {
  if (typeof data !== "object" || data === null) return null;
  const { columns, rows } = data as { columns?: unknown; rows?: unknown };
  if (!Array.isArray(columns) || columns.length === 0 || !Array.isArray(rows) || !rows.every(Array.isArray)) return null;
  // Columns with kinds are those of an answer of a domain, which is shown as such.
  if (columns.some((column) => typeof column === "object")) return null;
  return { columns: columns.map(String), rows: rows as unknown[][] };
}

const SHOWN = 100;

export function DataTable({ columns, rows }: { columns: string[]; rows: unknown[][] }) {
  return (
    <div tabIndex={0} className="max-h-80 overflow-auto rounded-md border border-line bg-surface">
      <table className="w-full border-collapse text-sm tabular">
        <thead className="sticky top-0 bg-sunken">
          <tr>{columns.map((column, index) => <th key={index} scope="col" className="px-2.5 py-1.5 text-left font-medium whitespace-nowrap text-ink-2">{column}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map((row, index) => (
            <tr key={index} className="border-t border-line">{row.map((cell, at) => <td key={at} className="max-w-96 px-2.5 py-1 align-top wrap-anywhere">{cell === null ? <span className="text-ink-3">null</span> : typeof cell === "object" ? JSON.stringify(cell) : String(cell)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
