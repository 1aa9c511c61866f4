// The form of a datasource: its start, what is wrong with it, and what is sent.
import { limits, numbersOf, within } from "@/api/limits";
import type { Datasource, DatasourceInput, RowVisibility } from "@/api/types";

export const VISIBILITIES: readonly RowVisibility[] = ["full", "sample", "ids", "counts"];
export type Form = { name: string; database: string; credential: string; visibility: RowVisibility; rows: string; seconds: string; planned: string; writable: boolean; asAskingUser: boolean; untrusted: boolean };
export const EMPTY: Form = { name: "", database: "", credential: "", visibility: "full", rows: "1000", seconds: "5", planned: "20000000", writable: false, asAskingUser: false, untrusted: true };

export const formOf = (one: Datasource): Form => ({ name: one.name, database: one.database, credential: one.credential ?? "", visibility: one.visibility, rows: String(one.limits.rows), seconds: String(one.limits.timeout_ms / 1000), planned: String(one.limits.planned_rows), writable: one.writable, asAskingUser: one.as_asking_user, untrusted: one.untrusted ?? true });

export const ROWS = numbersOf(limits.DatasourceLimits.rows);
export const SECONDS = numbersOf(limits.DatasourceLimits.timeout_ms, 1_000);

export type Problem = "name_bad" | "database_missing" | "database_bad" | "password_in_address" | "rows_bad" | "seconds_bad" | "planned_bad";
export type Problems = Partial<Record<"name" | "database" | "rows" | "seconds" | "planned", Problem>>;

const whole = (text: string): number | null => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null);

function databaseProblem(text: string): Problem | null {
  const address = text.trim();
  if (address === "") return "database_missing";
  if (/^(sqlite|folder):./.test(address)) return null;
  const found = /^(postgres|postgresql|mysql|mariadb):\/\/(.+)$/.exec(address);
  if (!found) return "database_bad";
  return /^[^/@]*:[^/@]*@/.test(found[2]!) ? "password_in_address" : null;
}

export function problemsOf(form: Form): Problems {
  const out: Problems = {};
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(form.name)) out.name = "name_bad";
  const database = databaseProblem(form.database);
  if (database) out.database = database;
  const rows = whole(form.rows);
  if (rows === null || !within(rows, ROWS)) out.rows = "rows_bad";
  const seconds = form.seconds.trim() === "" ? Number.NaN : Number(form.seconds.replace(",", "."));
  if (!within(seconds, SECONDS)) out.seconds = "seconds_bad";
  if (whole(form.planned) === null) out.planned = "planned_bad";
  return out;
}

export const inputOf = (form: Form, version: number): DatasourceInput => ({
  name: form.name,
  database: form.database.trim(),
  credential: form.credential || null,
  visibility: form.visibility,
  limits: { rows: Number(form.rows), timeout_ms: Math.round(Number(form.seconds.replace(",", ".")) * 1000), planned_rows: Number(form.planned) },
  writable: form.writable && !isFolder(form.database),
  as_asking_user: form.asAskingUser && isPostgres(form.database),
  untrusted: form.untrusted,
  version,
});

/** Whether a database is a server, which asks for a user. */
export const isServer = (database: string): boolean => /^[a-z]+:\/\//.test(database.trim());

/** Whether it is files of a folder, which are only read. */
export const isFolder = (database: string): boolean => database.trim().startsWith("folder:");

/** Whether a database can run queries as the person who asks. */
export const isPostgres = (database: string): boolean => /^postgres(ql)?:\/\//.test(database.trim());
