use super::html::{escape, last, prose};
use serde_json::Value;

/// `string | null`, `Run[]`, a link to a type further down.
pub(super) fn short(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = escape(last(reference));
        return format!("<a href=\"#type-{name}\">{name}</a>");
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            let joint = if key == "allOf" { " &amp; " } else { " | " };
            let parts: Vec<String> = parts.iter().map(short).collect();
            return parts.join(joint);
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().map(|word| format!("<code>{}</code>", escape(&word.to_string()))).collect();
        return words.join(" | ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return "anything".to_owned(),
    };
    let kinds: Vec<String> = kinds.into_iter().map(|kind| one_kind(kind, schema)).collect();
    kinds.join(" | ")
}

fn one_kind(kind: &str, schema: &Value) -> String {
    match kind {
        "array" => {
            let items = short(&schema["items"]);
            if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
        }
        "object" => match &schema["additionalProperties"] {
            Value::Object(_) => format!("{{ … : {} }}", short(&schema["additionalProperties"])),
            _ if schema["properties"].is_object() => {
                let names: Vec<String> = fields(schema).map(|field| inline(&field)).collect();
                format!("{{ {} }}", names.join(", "))
            }
            _ => "object".to_owned(),
        },
        "string" => match schema["format"].as_str() {
            Some(format) => format!("string <small>{}</small>", escape(format)),
            None => "string".to_owned(),
        },
        other => escape(other),
    }
}

fn inline(field: &Field<'_>) -> String {
    let mark = if field.required { "" } else { "?" };
    format!("{}{mark}: {}", escape(field.name), short(field.schema))
}

struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
}

fn fields(schema: &Value) -> impl Iterator<Item = Field<'_>> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    schema["properties"].as_object().into_iter().flatten().map(move |(name, schema)| Field {
        name,
        schema,
        required: required(name),
    })
}

/// What a type looks like: its fields as a table, or its variants as a list.
pub(super) fn whole(schema: &Value) -> String {
    let mut out = String::new();
    if let Some(text) = schema["description"].as_str() {
        out.push_str(&super::html::paragraphs(text));
    }
    if schema["properties"].is_object() {
        out.push_str("<table><tbody>\n");
        for field in fields(schema) {
            let mark = if field.required { "" } else { "<small>may be left out</small>" };
            let text = field.schema["description"].as_str().unwrap_or_default();
            out.push_str(&format_row(field.name, mark, &short(field.schema), text));
        }
        out.push_str("</tbody></table>\n");
        return out;
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            out.push_str("<ul>\n");
            for part in parts {
                let text = part["description"].as_str().unwrap_or_default();
                out.push_str("<li>");
                out.push_str(&short(part));
                out.push_str(" <span>");
                out.push_str(&prose(text));
                out.push_str("</span></li>\n");
            }
            out.push_str("</ul>\n");
            return out;
        }
    }
    out.extend([format!("<p>{}</p>\n", short(schema))]);
    out
}

pub(super) fn format_row(name: &str, mark: &str, kind: &str, text: &str) -> String {
    format!(
        "<tr><th scope=\"row\"><code>{}</code> {mark}</th><td>{kind}</td><td>{}</td></tr>\n",
        escape(name),
        prose(text)
    )
}
