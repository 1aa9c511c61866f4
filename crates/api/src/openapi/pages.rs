//! The document as a page for people. All of it can be read without a script; with one, operations can be tried.

mod html;
mod operation;
mod schema;

use html::{headline, paragraphs, prose};
use operation::article;
use schema::whole;
use serde_json::Value;
use utoipa::openapi::OpenApi;

pub(crate) use html::escape;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

pub(super) fn page(document: &OpenApi) -> String {
    let document = serde_json::to_value(document).unwrap_or_default();
    let version = escape(document["info"]["version"].as_str().unwrap_or_default());
    let about = paragraphs(document["info"]["description"].as_str().unwrap_or_default());
    let (mut contents, mut sections) = (String::new(), String::new());
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = tag["name"].as_str().unwrap_or_default();
        let operations = operations(&document, name);
        if operations.is_empty() {
            continue;
        }
        let id = escape(name);
        let link = |(_, path, operation): &(&str, &str, &Value)| {
            format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                escape(operation["operationId"].as_str().unwrap_or(path)),
                prose(headline(operation["summary"].as_str().unwrap_or(path)).0)
            )
        };
        let links = operations.iter().map(link).collect::<String>();
        contents.extend([format!("<li><a href=\"#tag-{id}\">{id}</a><ul>\n{links}</ul></li>\n")]);
        let text = prose(tag["description"].as_str().unwrap_or_default());
        sections.extend([format!("<section id=\"tag-{id}\">\n<h2>{id}</h2>\n<p>{text}</p>\n")]);
        for (method, path, operation) in operations {
            sections.push_str(&article(&document, method, path, operation));
        }
        sections.push_str("</section>\n");
    }
    let types = types(&document);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Steward API</title>\n\
         <link rel=\"icon\" href=\"/icon.svg\">\n<link rel=\"stylesheet\" href=\"/docs/style.css\">\n\
         <script src=\"/docs/try.js\" defer></script>\n</head>\n<body>\n\
         <nav aria-label=\"Operations\">\n<p class=\"brand\"><a href=\"/\">Steward</a> API</p>\n<ul>\n{contents}\
         <li><a href=\"#types\">types</a></li>\n</ul>\n</nav>\n<main>\n<h1>Steward API</h1>\n\
         <p>Version {version}. For programs: <a href=\"/api/openapi.json\">openapi.json</a>.</p>\n{about}\
         <p>The lines for the terminal take the address and a key from two variables:</p>\n\
         <pre><code>STEWARD=http://127.0.0.1:8800\nSTEWARD_KEY=sk-steward-…</code></pre>\n{sections}\
         <section id=\"types\">\n<h2>types</h2>\n{types}</section>\n</main>\n</body>\n</html>\n"
    )
}

fn operations<'a>(document: &'a Value, tag: &str) -> Vec<(&'static str, &'a str, &'a Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let operation = &item[method];
            let tags = operation["tags"].as_array();
            if tags.is_some_and(|tags| tags.iter().any(|one| one == tag)) {
                found.push((method, path.as_str(), operation));
            }
        }
    }
    found
}

fn types(document: &Value) -> String {
    let article = |(name, schema): (&String, &Value)| {
        let id = escape(name);
        format!("<article id=\"type-{id}\">\n<h3><a href=\"#type-{id}\">{id}</a></h3>\n{}</article>\n", whole(schema))
    };
    document["components"]["schemas"].as_object().into_iter().flatten().map(article).collect()
}
