use super::html::{escape, headline, paragraphs, prose};
use super::schema::{format_row, short};
use serde_json::{Map, Value, json};

pub(super) fn article(document: &Value, method: &str, path: &str, operation: &Value) -> String {
    let id = escape(operation["operationId"].as_str().unwrap_or(path));
    let (head, rest) = headline(operation["summary"].as_str().unwrap_or(path));
    let public = operation["security"].is_array();
    let badge = if public { " <small class=\"open\">no token needed</small>" } else { "" };
    let mut out = format!(
        "<article id=\"{id}\">\n<h3><a href=\"#{id}\">{}</a>{badge}</h3>\n\
         <p class=\"line\"><b class=\"{method}\">{}</b> <code>{}</code></p>\n",
        prose(head),
        method.to_uppercase(),
        escape(path),
    );
    out.push_str(&paragraphs(rest));
    if let Some(text) = operation["description"].as_str() {
        out.push_str(&paragraphs(text));
    }
    out.push_str(&parameters(operation));
    out.push_str(&body(operation));
    out.push_str(&answers(document, operation));
    let line = curl(document, method, path, operation, public);
    out.extend([format!("<pre><code>{}</code></pre>\n", escape(&line))]);
    out.push_str(&trial(document, method, path, operation, public));
    out.push_str("</article>\n");
    out
}

/// What `try.js` makes a form of; without scripts it stays hidden.
fn trial(document: &Value, method: &str, path: &str, operation: &Value, public: bool) -> String {
    let parameters: Vec<Value> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| json!({"name": one["name"], "in": one["in"], "required": one["required"] == true}))
        .collect();
    let content = operation["requestBody"]["content"].as_object();
    // A form has several fields; the body alone does the same.
    let kind = content.and_then(|kinds| kinds.keys().find(|kind| !kind.starts_with("multipart/")));
    let body = kind.filter(|kind| *kind == "application/json").map(|kind| {
        let schema = &operation["requestBody"]["content"][kind.as_str()]["schema"];
        example(document, schema, 0).to_string()
    });
    format!(
        "<details class=\"try\" hidden data-method=\"{method}\" data-path=\"{}\" data-kind=\"{}\" data-body=\"{}\" \
         data-parameters=\"{}\"{}><summary>Try it</summary></details>\n",
        escape(path),
        escape(kind.map_or("", String::as_str)),
        escape(body.as_deref().unwrap_or_default()),
        escape(&Value::from(parameters).to_string()),
        if public { " data-open=\"yes\"" } else { "" },
    )
}

fn parameters(operation: &Value) -> String {
    let rows: Vec<String> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|parameter| {
            let place = parameter["in"].as_str().unwrap_or_default();
            let needed = parameter["required"] == Value::Bool(true);
            let mark = if needed {
                format!("<small>{place}</small>")
            } else {
                format!("<small>{place}, may be left out</small>")
            };
            format_row(
                parameter["name"].as_str().unwrap_or_default(),
                &mark,
                &short(&parameter["schema"]),
                parameter["description"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("<h4>Parameters</h4>\n<table><tbody>\n{}</tbody></table>\n", rows.concat())
}

fn body(operation: &Value) -> String {
    let Some(content) = operation["requestBody"]["content"].as_object() else {
        return String::new();
    };
    let kinds: Vec<String> = content
        .iter()
        .map(|(kind, content)| format!("{} <small>{}</small>", short(&content["schema"]), escape(kind)))
        .collect();
    format!("<h4>Body</h4>\n<p>{}</p>\n", kinds.join(" or "))
}

fn answers(document: &Value, operation: &Value) -> String {
    let mut good = String::new();
    let mut refusals = Vec::new();
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let response = resolved(document, response);
        let text = response["description"].as_str().unwrap_or_default();
        if status.as_str() >= "400" {
            refusals.push(format!("<li><code>{}</code> {}</li>\n", escape(status), prose(text)));
            continue;
        }
        let kind = response["content"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(kind, content)| format!("{} <small>{}</small>", short(&content["schema"]), escape(kind)))
            .collect::<Vec<_>>()
            .join(" or ");
        good.extend([format!(
            "<tr><th scope=\"row\"><code>{}</code></th><td>{kind}</td><td>{}</td></tr>\n",
            escape(status),
            prose(text)
        )]);
    }
    let refusals = if refusals.is_empty() {
        String::new()
    } else {
        format!(
            "<details><summary>Refusals ({})</summary>\n<ul>\n{}</ul></details>\n",
            refusals.len(),
            refusals.concat()
        )
    };
    format!("<h4>Answers</h4>\n<table class=\"answers\"><tbody>\n{good}</tbody></table>\n{refusals}")
}

fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    value["$ref"].as_str().and_then(|reference| document.pointer(reference.trim_start_matches('#'))).unwrap_or(value)
}

fn curl(document: &Value, method: &str, path: &str, operation: &Value, public: bool) -> String {
    let mut line = "curl".to_owned();
    if method != "get" {
        line.extend([format!(" -X {}", method.to_uppercase())]);
    }
    line.extend([format!(" \"$STEWARD{path}\"")]);
    if !public {
        line.push_str(" \\\n  -H \"authorization: Bearer $STEWARD_KEY\"");
    }
    let headers = operation["parameters"].as_array().into_iter().flatten();
    for header in headers.filter(|one| one["in"] == "header" && one["required"] == true) {
        let name = header["name"].as_str().unwrap_or_default();
        line.extend([format!(" \\\n  -H \"{}: 1\"", name.to_lowercase())]);
    }
    let content = &operation["requestBody"]["content"];
    if let Some(json) = content["application/json"].as_object() {
        let example = example(document, &json["schema"], 0);
        line.push_str(" \\\n  -H \"content-type: application/json\" \\\n  -d '");
        line.push_str(&example.to_string().replace('\'', "'\\''"));
        line.push('\'');
    } else if let Some(kind) = content.as_object().and_then(|content| content.keys().next()) {
        line.extend([format!(" \\\n  -H \"content-type: {kind}\" \\\n  --data-binary @FILE")]);
    }
    line
}

/// A small value that a schema allows: what is required only.
fn example(document: &Value, schema: &Value, depth: u8) -> Value {
    let schema = resolved(document, schema);
    if depth > 4 {
        return Value::Null;
    }
    let given = [&schema["example"], &schema["examples"][0], &schema["default"]];
    if let Some(given) = given.into_iter().find(|value| !value.is_null()) {
        return given.clone();
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(first) =
            schema[key].as_array().and_then(|parts| parts.iter().find(|part| part["type"] != "null").or(parts.first()))
        {
            return example(document, first, depth + 1);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut merged = Map::new();
        for part in parts {
            if let Value::Object(map) = example(document, part, depth + 1) {
                merged.extend(map);
            }
        }
        return Value::Object(merged);
    }
    if !schema["enum"][0].is_null() {
        return schema["enum"][0].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => Value::from(match schema["format"].as_str() {
            Some("uuid") => "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11",
            _ => "…",
        }),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| Value::from(1)),
        Some("boolean") => Value::from(true),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => required(document, schema, depth),
        _ => Value::Null,
    }
}

fn required(document: &Value, schema: &Value, depth: u8) -> Value {
    let names = schema["required"].as_array().into_iter().flatten();
    let pairs = names.filter_map(Value::as_str).map(|name| {
        let property = &schema["properties"][name];
        (name.to_owned(), example(document, property, depth + 1))
    });
    Value::Object(pairs.collect())
}
