//! `browser_screenshot`: a picture as a file of the workspace, where a person finds it.

use crate::browser::browsers::Browsers;
use crate::browser::call;
use crate::catalogue;
use crate::error::ToolsError;
use crate::files::{Kept, keep_file};
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::hash;
use steward_core::policy::RiskClass;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolError, ToolOutput, ToolSpec};
use url::Url;

/// Folder of the pictures.
const FOLDER: &str = "screenshots";
/// Letters of a call's hash in a file's name.
const LETTERS: usize = 8;
/// Where a PNG says its width and height.
const SIZE: std::ops::Range<usize> = 16..24;

pub(super) struct Screenshot {
    pub browsers: Browsers,
    pub blobs: Arc<dyn Blobs>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NoArgs {}

impl ToolHandler for Screenshot {
    type Args = NoArgs;

    fn spec(&self) -> ToolSpec {
        // The same call writes the same file.
        catalogue::spec(
            "browser_screenshot",
            RiskClass::Write,
            EffectClass::Idempotent,
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        )
    }

    async fn preview(&self, _: NoArgs, _: &ToolScope) -> Preview {
        Preview {
            summary: format!("writes a picture of the open page into {FOLDER}/"),
            detail: None,
            count: Some(1),
            reversible: true,
        }
    }

    async fn run(&self, _: NoArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let (png, url) = call::picture(&self.browsers, context).await?;
        let (width, height) = size(&png)
            .ok_or_else(|| ToolsError::refused("the browser gave no picture; open the page again with browser_open"))?;
        let path = name(&url, &context.idempotency_key);
        let bytes = png.len();
        let Kept { sha256, undo } = keep_file("browser_screenshot", &path, png, context, &self.blobs).await?;
        Ok(ToolOutput {
            data: Some(json!({"path": path, "url": url, "width": width, "height": height, "bytes": bytes})),
            receipt: Some(Receipt {
                action: "wrote".to_owned(),
                object: path.clone(),
                evidence: Some(format!("sha256:{sha256}")),
            }),
            undo: Some(undo),
            tainted: true,
            origin: Some(url.clone()),
            ..ToolOutput::text(format!("wrote a picture of {url} to {path} ({width} × {height}, {bytes} bytes)"))
        })
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        crate::files::restore(snapshot, scope, &self.blobs).await
    }
}

/// `screenshots/HOST-CALL.png`.
fn name(url: &str, key: &str) -> String {
    let host = Url::parse(url).ok();
    let host = host.as_ref().and_then(Url::host_str).unwrap_or("page");
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '-' }).take(60).collect();
    let call = &hash::sha256(key.as_bytes())[..LETTERS];
    format!("{FOLDER}/{host}-{call}.png")
}

fn size(png: &[u8]) -> Option<(u32, u32)> {
    let both = png.starts_with(b"\x89PNG").then(|| png.get(SIZE)).flatten()?;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_be_bytes);
    Some((number(&both[..4])?, number(&both[4..])?))
}

#[cfg(test)]
mod tests {
    use super::{name, size};

    #[test]
    fn names_and_sizes() {
        let first = name("https://example.org/a", "k1");
        assert!(first.starts_with("screenshots/example.org-"), "{first}");
        assert_ne!(first, name("https://example.org/a", "k2"));
        assert!(name("about:blank", "k").starts_with("screenshots/page-"));
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 3, 132]);
        assert_eq!(size(&png), Some((1280, 900)));
        assert_eq!(size(b"<html>"), None);
    }
}
