//! What a tool answered, as text and data. Pictures, sounds and resources are named, never inlined.

use super::error::McpError;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use std::fmt::Write as _;
use steward_core::tool::{ToolOutput, truncate};

/// Longest text of a result, characters. The limit of the skill comes later and is smaller.
const LONGEST: usize = 400_000;
/// Largest data of a result, bytes of JSON.
const LARGEST: usize = 400_000;
/// Longest error, characters.
const ERROR: usize = 4000;

/// The result of a call, tainted by its server.
pub(super) fn output(server: &str, result: CallToolResult) -> Result<ToolOutput, McpError> {
    let mut text = blocks(&result.content);
    let failed = result.is_error == Some(true);
    let data = result.structured_content.filter(|data| !data.is_null());
    if let Some(data) = &data
        && text.trim().is_empty()
    {
        text = serde_json::to_string_pretty(data).unwrap_or_default();
    }
    if failed {
        let message = if text.trim().is_empty() {
            "the tool failed without a word".to_owned()
        } else {
            truncate(text.trim(), ERROR).0
        };
        return Err(McpError::Said { server: server.to_owned(), message });
    }
    let (content, _) = truncate(&text, LONGEST);
    let fits = |data: &serde_json::Value| data.to_string().len() <= LARGEST;
    Ok(ToolOutput {
        content,
        data: data.filter(fits),
        tainted: true,
        origin: Some(origin(server)),
        ..ToolOutput::default()
    })
}

/// Where all that a server says comes from.
pub(super) fn origin(server: &str) -> String {
    format!("mcp:{server}")
}

fn blocks(blocks: &[ContentBlock]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::Image(part) => {
                named(&mut text, "picture", &part.mime_type, part.data.len());
            }
            ContentBlock::Audio(part) => {
                named(&mut text, "sound", &part.mime_type, part.data.len());
            }
            ContentBlock::ResourceLink(link) => {
                let _ = write!(text, "[resource {} at {}, not read]", link.name, link.uri);
            }
            ContentBlock::Resource(part) => match &part.resource {
                ResourceContents::TextResourceContents { uri, text: inner, .. } => {
                    let size = inner.chars().count();
                    let _ = write!(text, "[resource {uri}, {size} characters, not shown]");
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let media = mime_type.as_deref().unwrap_or("unknown type");
                    let _ = write!(text, "[resource {uri}, {media}, {} bytes, not shown]", bytes(blob.len()));
                }
                _ => text.push_str("[a resource of a form that is not known]"),
            },
            _ => text.push_str("[content of a type that is not known]"),
        }
    }
    text
}

fn named(text: &mut String, what: &str, media: &str, encoded: usize) {
    let _ = write!(text, "[{what} {media}, {} bytes, not shown]", bytes(encoded));
}

/// Bytes of what takes so many characters in base64, padding aside.
fn bytes(encoded: usize) -> usize {
    encoded / 4 * 3
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::output;
    use serde_json::{Value, json};

    fn result(value: Value) -> rmcp::model::CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn names_what_is_no_text() {
        let shown = output(
            "wiki",
            result(json!({"content": [
                {"type": "text", "text": "Two files:"},
                {"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "secret plan"}},
                {"type": "resource_link", "uri": "file:///b.txt", "name": "b"},
            ]})),
        )
        .unwrap();
        assert_eq!(
            shown.content,
            "Two files:\n[picture image/png, 6 bytes, not shown]\n[resource file:///a.txt, 11 characters, not shown]\n[resource b at file:///b.txt, not read]"
        );
        assert!(shown.tainted);
        assert_eq!(shown.origin.as_deref(), Some("mcp:wiki"));
    }

    #[test]
    fn data_stands_in_for_missing_text() {
        let shown = output("wiki", result(json!({"content": [], "structuredContent": {"n": 3}}))).unwrap();
        assert_eq!(shown.data, Some(json!({"n": 3})));
        assert!(shown.content.contains("\"n\": 3"));
    }

    #[test]
    fn a_failure_is_an_error_with_the_servers_words() {
        let failed = result(json!({"content": [{"type": "text", "text": "no such page"}], "isError": true}));
        let error = output("wiki", failed).unwrap_err().to_string();
        assert_eq!(error, "the MCP server `wiki` says: no such page");
    }
}
