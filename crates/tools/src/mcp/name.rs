//! Names of skills from names of tools.

use std::collections::BTreeMap;
use steward_core::hash;
use steward_core::mcp::McpServer;

/// Longest name of a skill.
const LONGEST: usize = 64;
/// Characters of a hash that tell two names apart.
const MARK: usize = 8;

/// `<server>_<tool>` in `[a-z0-9_]{1,64}`.
fn plain(server: &str, tool: &str) -> String {
    let mut name = String::new();
    for part in format!("{server}_{tool}").chars() {
        let part = part.to_ascii_lowercase();
        if part.is_ascii_lowercase() || part.is_ascii_digit() {
            name.push(part);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').to_owned()
}

fn marked(name: &str, tool: &str) -> String {
    let mark: String = hash::sha256(tool.as_bytes()).chars().take(MARK).collect();
    let kept: String = name.chars().take(LONGEST - MARK - 1).collect();
    format!("{}_{mark}", kept.trim_end_matches('_'))
}

/// Name of the skill of each tool of `server`. Two tools never share one: where they would, or where a name is
/// cut, it ends in a mark of the tool's own name.
pub(super) fn names(server: &McpServer) -> BTreeMap<String, String> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for tool in &server.tools {
        *count.entry(plain(&server.name, &tool.name)).or_default() += 1;
    }
    let fit = |tool: &str| {
        let name = plain(&server.name, tool);
        if name.len() > LONGEST || count.get(&name).is_some_and(|several| *several > 1) {
            marked(&name, tool)
        } else {
            name
        }
    };
    server.tools.iter().map(|tool| (tool.name.clone(), fit(&tool.name))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::names;
    use serde_json::json;
    use steward_core::mcp::McpServer;

    #[test]
    fn names_fit_and_differ() {
        let long = "a_very_long_name_of_a_tool_that_would_not_fit_into_what_models_take_1";
        let other = "a_very_long_name_of_a_tool_that_would_not_fit_into_what_models_take_2";
        let tools = ["search", "getItem", "get-item", "get_item", "über.tool", "search/2", long, other];
        let tools: Vec<_> =
            tools.iter().map(|name| json!({"name": name, "description": "", "parameters": {}})).collect();
        let server: McpServer = serde_json::from_value(json!({
            "id": uuid_text(), "name": "wiki", "enabled": true, "tools": tools,
            "transport": {"kind": "http", "url": "https://wiki.example/mcp"},
        }))
        .unwrap();
        let names = names(&server);
        assert_eq!(names["search"], "wiki_search");
        assert_eq!(names["getItem"], "wiki_getitem");
        assert_eq!(names["search/2"], "wiki_search_2");
        assert_eq!(names["über.tool"], "wiki_ber_tool");
        assert!(names["get-item"].starts_with("wiki_get_item_"));
        let mut all: Vec<_> = names.values().collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 8, "{names:?}");
        for name in all {
            assert!(name.len() <= 64, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        }
    }

    fn uuid_text() -> &'static str {
        "00000000-0000-7000-8000-000000000001"
    }
}
