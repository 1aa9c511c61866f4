// What the API says of databases, their domains and changes of records. What the document leaves open is written by hand.
import type { components } from "./schema";

type S = components["schemas"];
type With<T, U> = Omit<T, keyof U> & U;

export type RowVisibility = S["RowVisibility"];
export type DatasourceLimits = Required<S["DatasourceLimits"]>;
export type Datasource = With<S["Datasource"], { limits: DatasourceLimits }>;
export type DatasourceInput = With<Required<S["DatasourceInput"]>, { limits: DatasourceLimits }>;
export type DatasourceTable = S["DatasourceTable"];
export type DatasourceSchema = S["DatasourceSchema"];
export type InitTexts = S["InitTexts"];

export type FieldKind = "int" | "float" | "string" | "text" | "bool" | "date" | "datetime";
export type FieldInfo = With<S["FieldInfo"], { kind: FieldKind }>;
export type RelationInfo = With<S["RelationInfo"], { kind: "has_many" | "belongs_to" | "has_one"; bind: [string, string][] }>;
export type DomainInfo = With<S["DomainInfo"], { fields: FieldInfo[]; relations: RelationInfo[] }>;
export type Choice = With<S["Choice"], { value: unknown }>;
export type FoundDomain = S["FoundDomain"];

/** A view that opens, as a tab or in place; `bind` is the field that picks the row. */
export type Target = { view: string; bind: string | null; tab: boolean };
export type Button = { action: "new" | "refresh" | "save" | "delete"; label: string; target: Target | null };
export type ColumnPart = { field: string; label: string; /** In characters. */ width: number | null; format: string | null };
export type TablePart = { domain: string; on_select: Target | null; columns: ColumnPart[] };
export type WidgetKind = "text" | "textarea" | "select" | "checkbox" | "number" | "date";
export type Widget = { kind: WidgetKind; field: string };
export type Section = { title: string; rows: Widget[][] };
/** A view as the language of domains has it. */
export type View = { name: string; title: string; domain: string; toolbar: Button[]; tables: TablePart[]; sections: Section[] };
export type ViewInfo = With<S["ViewInfo"], { view: View }>;

export type AnswerColumn = S["AnswerColumn"];
/** How an answer is shown best; the numbers are places of columns. */
export type Shape = { shape: "empty" } | { shape: "number"; column: number } | { shape: "row" } | { shape: "table" } | { shape: "series"; x: number; y: number };
export type DomainAnswer = With<S["DomainAnswer"], { rows: unknown[][]; shape: Shape; query: unknown }>;

export type DomainTextKind = S["DomainTextKind"];
export type DomainText = S["DomainText"];
export type SavedDomainText = S["SavedDomainText"];
export type TextDiagnostic = S["TextDiagnostic"];
export type TextReport = S["TextReport"];
export type TextCompletion = S["TextCompletion"];
export type TextHover = S["TextHover"];
export type WrittenText = S["WrittenText"];

export type StandingInstruction = S["StandingInstruction"];
export type VerifiedQuestion = Omit<S["VerifiedQuestion"], "query"> & { query: object };
export type VerifiedInput = { text: string; query: object };
export type InstructionInput = Required<S["InstructionInput"]>;

/** Values by the names of their fields. */
export type Row = Record<string, unknown>;
export type ChangeInput = { change: "insert"; domain: string; set: Row } | { change: "update"; domain: string; key: Row; set: Row } | { change: "delete"; domain: string; key: Row };
export type RecordChangeState = S["RecordChangeState"];
export type RecordChange = With<S["RecordChange"], { change: ChangeInput; before?: Row }>;
export type FieldDifference = With<S["FieldDifference"], { before: unknown; after: unknown }>;
export type ChangeInfo = With<S["ChangeInfo"], { change: RecordChange; difference: FieldDifference[] }>;
