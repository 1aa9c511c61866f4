// First texts, for somebody to go on from.
import type { DomainInfo } from "@/api/types";

const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;
const isName = (text: string) => /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u.test(text);
const named = (text: string) => (isName(text) ? text : quoted(text));

export const domainTemplate = (datasource: string): string => `# What a row of this table is, for people and for models.
domain things from things@${named(datasource)} {
  permission role:admin read, write, delete
  permission role:viewer read
  field id : int readonly filterable
  field name : string filterable
  ai "scope" "Say here in one sentence what the rows are about."
  aliases ["thing"]
}
`;

/** A name that is not taken: with a number where it has to be. */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}_${n}`;
    if (!taken.includes(name)) return name;
  }
}

const widgetOf = (field: DomainInfo["fields"][number]): string => {
  if (field.choices) return "select";
  return { int: "number", float: "number", string: "text", text: "textarea", bool: "checkbox", date: "date", datetime: "date" }[field.kind];
};

/** A list of a domain's rows with a form for the chosen one. */
export function viewTemplate(domain: DomainInfo, name: string): string {
  const columns = domain.fields.filter((field) => field.kind !== "text").slice(0, 6);
  const fields = domain.fields.slice(0, 12);
  const pairs = fields.flatMap((_field, at) => (at % 2 === 0 ? [fields.slice(at, at + 2)] : []));
  const buttons = [...(domain.write ? ['    new "New"'] : []), '    refresh "Reload"', ...(domain.write ? ['    save "Save"'] : []), ...(domain.delete ? ['    delete "Delete"'] : [])];
  return `view ${named(name)} ${quoted(domain.name)} over ${named(domain.name)} {
  toolbar {
${buttons.join("\n")}
  }
  table -> ${named(domain.name)}.rows {
${columns.map((field) => `    column ${named(field.name)} ${quoted(field.name)}`).join("\n")}
  }
  section "Details" {
${pairs.map((pair) => `    row {\n${pair.map((field) => `      widget ${widgetOf(field)} bind=${named(field.name)}`).join("\n")}\n    }`).join("\n")}
  }
}
`;
}
