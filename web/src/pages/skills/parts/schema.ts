// What a JSON Schema asks for, as far as a form can show it. What it can't show is edited as JSON.

export type Schema = Record<string, unknown>;
export type Json = Record<string, unknown>;

export type Shape =
  | { is: "const"; value: unknown }
  | { is: "choice"; options: unknown[] }
  | { is: "flag" }
  | { is: "number"; whole: boolean; min: number | undefined; max: number | undefined }
  | { is: "text"; media: string | null; suggestions: string[] }
  | { is: "list"; of: Shape }
  | { is: "pairs" }
  | { is: "object"; fields: Field[] }
  | { is: "variants"; tag: string; variants: Variant[] }
  | { is: "json" };

export type Field = { name: string; label: string; shape: Shape; required: boolean; hint: string; usual: unknown };
export type Variant = { value: string; fields: Field[] };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []);

/** The only type besides null; undefined where there are several or none. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  return types.length === 1 && typeof types[0] === "string" ? types[0] : undefined;
}

/** Deeper than this a form is no help. */
const DEEP = 3;

export function shapeOf(schema: unknown, depth = 0): Shape {
  if (!isObject(schema)) return { is: "json" };
  if ("const" in schema) return { is: "const", value: schema.const };
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return { is: "choice", options: schema.enum };
  const either = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(either)) return (depth < DEEP && variantsOf(either, depth)) || { is: "json" };
  switch (typeOf(schema)) {
    case "boolean":
      return { is: "flag" };
    case "integer":
    case "number":
      return { is: "number", whole: typeOf(schema) === "integer", min: typeof schema.minimum === "number" ? schema.minimum : undefined, max: typeof schema.maximum === "number" ? schema.maximum : undefined };
    case "string":
      return { is: "text", media: typeof schema.contentMediaType === "string" ? schema.contentMediaType : null, suggestions: texts(schema.examples) };
    case "array": {
      const of = shapeOf(schema.items, depth + 1);
      return of.is === "text" || of.is === "number" || of.is === "choice" ? { is: "list", of } : { is: "json" };
    }
    case "object":
      return objectOf(schema, depth);
    default:
      return { is: "json" };
  }
}

function objectOf(schema: Schema, depth: number): Shape {
  const fields = fieldsOf(schema, depth);
  if (fields.length > 0) return depth < DEEP ? { is: "object", fields } : { is: "json" };
  const more = schema.additionalProperties;
  if (isObject(more) && typeOf(more) === "string") return { is: "pairs" };
  // Nothing may be in it: an object without fields.
  return more === false ? { is: "object", fields: [] } : { is: "json" };
}

/** Fields of an object's schema, in its order. */
export function fieldsOf(schema: Schema, depth = 0): Field[] {
  if (!isObject(schema.properties)) return [];
  const required = texts(schema.required);
  return Object.entries(schema.properties).map(([name, about]) => {
    const of = isObject(about) ? about : {};
    return { name, label: typeof of.title === "string" ? of.title : name, shape: shapeOf(about, depth + 1), required: required.includes(name), hint: typeof of.description === "string" ? of.description : "", usual: of.default };
  });
}

/** Objects that a field with fixed values tells apart. */
function variantsOf(either: unknown[], depth: number): Shape | null {
  const objects = either.filter(isObject);
  const [first] = objects;
  if (!first || objects.length !== either.length || !isObject(first.properties)) return null;
  const fixed = (schema: Schema, name: string): string[] => {
    const about = isObject(schema.properties) ? schema.properties[name] : undefined;
    return isObject(about) ? texts("const" in about ? [about.const] : about.enum) : [];
  };
  const tag = Object.keys(first.properties).find((name) => objects.every((schema) => fixed(schema, name).length > 0));
  if (!tag) return null;
  return { is: "variants", tag, variants: objects.flatMap((schema) => fixed(schema, tag).map((value) => ({ value, fields: fieldsOf(schema, depth).filter((field) => field.name !== tag) }))) };
}

/** The value with one field set; `undefined` takes it out. Its place and what is not known stay. */
export function put(value: Json, name: string, next: unknown): Json {
  if (next !== undefined) return { ...value, [name]: next };
  const { [name]: _gone, ...rest } = value;
  return rest;
}

/** Another variant: what both have stays. */
export function turned(value: Json, shape: Shape & { is: "variants" }, to: string): Json {
  const known = new Set(shape.variants.flatMap((variant) => variant.fields.map((field) => field.name)));
  const wanted = new Set(shape.variants.find((variant) => variant.value === to)?.fields.map((field) => field.name));
  return { ...Object.fromEntries(Object.entries(value).filter(([name]) => name !== shape.tag && (wanted.has(name) || !known.has(name)))), [shape.tag]: to };
}

const absent = (value: unknown) => value === undefined || value === null;

/** Names of the needed fields that are not there, by path: `pages.most`. */
export function missing(fields: readonly Field[], value: Json, path = ""): string[] {
  return fields.flatMap((field) => {
    const one = value[field.name];
    const at = path + field.name;
    if (absent(one)) return field.required && field.usual === undefined && field.shape.is !== "flag" && field.shape.is !== "const" ? [at] : [];
    if (!isObject(one)) return [];
    if (field.shape.is === "object") return missing(field.shape.fields, one, `${at}.`);
    if (field.shape.is === "variants") {
      const { tag, variants } = field.shape;
      return missing(variants.find((variant) => variant.value === one[tag])?.fields ?? [], one, `${at}.`);
    }
    return [];
  });
}

/** Flags and fixed values that are needed are set, since a form shows them as set. */
export function completed(fields: readonly Field[], value: Json): Json {
  const lacking = fields.filter((field) => field.required && absent(value[field.name]) && (field.shape.is === "flag" || field.shape.is === "const"));
  return lacking.length === 0 ? value : { ...value, ...Object.fromEntries(lacking.map(({ name, shape, usual }) => [name, shape.is === "const" ? shape.value : (usual ?? false)])) };
}

/** What a server says of fields, "`limit`: 3 is too much; `b.c`: …", by the field. */
export function saidOf(text: string): Record<string, string> {
  const found = [...text.matchAll(/(?:^|; |: )`([\w.]+)`:? ([^`]*?)(?=; `[\w.]+`|$)/g)];
  return Object.fromEntries(found.map(([, name, why]) => [name!, why!.trim()]));
}
