// The inputs of a skill: rows over the JSON Schema of an object. What rows don't show stays in it.
import type { Json, Schema } from "./schema";

export const TYPES = ["string", "number", "integer", "boolean", "array", "object"] as const;
export type InputType = (typeof TYPES)[number];
/** `type` null: something that a row can't show. */
export type Row = { name: string; type: InputType | null; description: string; required: boolean; choices: string[] };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const properties = (schema: Schema): Json => (isObject(schema.properties) ? schema.properties : {});
const required = (schema: Schema): string[] => (Array.isArray(schema.required) ? schema.required.filter((one): one is string => typeof one === "string") : []);

export const NO_INPUTS: Schema = { type: "object", properties: {}, additionalProperties: false };

export function rowsOf(schema: Schema): Row[] {
  return Object.entries(properties(schema)).map(([name, about]) => {
    const of = isObject(about) ? about : {};
    const type = TYPES.find((one) => one === of.type) ?? null;
    return { name, type, description: typeof of.description === "string" ? of.description : "", required: required(schema).includes(name), choices: type === "string" && Array.isArray(of.enum) ? of.enum.map(String) : [] };
  });
}

const rebuilt = (schema: Schema, entries: [string, unknown][], needed: string[]): Schema => {
  const { required: _old, ...rest } = schema;
  return { ...rest, type: "object", properties: Object.fromEntries(entries), ...(needed.length > 0 && { required: needed }) };
};

/** A new row at the end, with a name that is free. */
export function added(schema: Schema): Schema {
  const taken = properties(schema);
  let number = Object.keys(taken).length + 1;
  while (`input_${number}` in taken) number++;
  return rebuilt({ additionalProperties: false, ...schema }, [...Object.entries(taken), [`input_${number}`, { type: "string" }]], required(schema));
}

export const removed = (schema: Schema, name: string): Schema =>
  rebuilt(schema, Object.entries(properties(schema)).filter(([other]) => other !== name), required(schema).filter((other) => other !== name));

/** Renames an input in its place; the schema itself where the name is taken or none. */
export function renamed(schema: Schema, from: string, to: string): Schema {
  if (to === from || to === "" || to in properties(schema)) return schema;
  return rebuilt(schema, Object.entries(properties(schema)).map(([name, about]) => [name === from ? to : name, about]), required(schema).map((name) => (name === from ? to : name)));
}

/** Changes what a row shows of an input. */
export function changed(schema: Schema, name: string, change: Partial<Omit<Row, "name">>): Schema {
  const entries = Object.entries(properties(schema)).map(([other, about]): [string, unknown] => (other === name ? [other, described(isObject(about) ? about : {}, change)] : [other, about]));
  const needed = required(schema).filter((other) => other !== name);
  const wanted = change.required ?? required(schema).includes(name);
  // In the order of the rows.
  return rebuilt(schema, entries, wanted ? entries.map(([other]) => other).filter((other) => other === name || needed.includes(other)) : needed);
}

function described(about: Json, change: Partial<Omit<Row, "name">>): Json {
  let next = { ...about };
  if (change.type && change.type !== about.type) {
    // Bounds and choices of the type before make no sense for the next one.
    next = { type: change.type, ...(typeof about.description === "string" && { description: about.description }), ...(change.type === "array" && { items: { type: "string" } }) };
  }
  if (change.description !== undefined) {
    if (change.description) next.description = change.description;
    else delete next.description;
  }
  if (change.choices !== undefined) {
    if (change.choices.length > 0) next.enum = change.choices;
    else delete next.enum;
  }
  return next;
}
