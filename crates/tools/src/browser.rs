//! A real browser for agents: Chromium in the OS sandbox, whose only way out is our proxy with the address guard.
//! One page per run; it ends with the run, after idling, and with this program. Agents have these tools only where they
//! are named, since for most requests `web_fetch` is enough.

mod actions;
mod cdp;
mod element_actions;
mod elements;
mod error;
mod launch;
mod page;
mod page_state;
mod page_text;
mod proxy;
mod sessions;

pub use error::BrowserError;
pub use launch::{BrowserConfig, find_browser};
pub use sessions::Browsers;

use crate::dispatcher::DispatcherBuilder;
use crate::error::ToolsError;
use crate::files;
use crate::handler::{Context, NoArgs, ToolHandler};
use crate::outbound::address_guard;
use actions::ElementAction;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::hash;
use steward_core::locks::lock;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, ToolOutput};
use steward_sandbox::files::Workspace;
use url::Url;

pub const BROWSER_TOOLS: [&str; 5] =
    ["browser_open", "browser_snapshot", "browser_click", "browser_type", "browser_screenshot"];

#[must_use]
pub fn with_browser(builder: DispatcherBuilder, browsers: &Browsers, blobs: &Arc<dyn Blobs>) -> DispatcherBuilder {
    let ended = browsers.clone();
    builder
        .with(BrowserOpen(browsers.clone()))
        .with(BrowserSnapshot(browsers.clone()))
        .with(BrowserClick(browsers.clone()))
        .with(BrowserType(browsers.clone()))
        .with(BrowserScreenshot { browsers: browsers.clone(), blobs: Arc::clone(blobs) })
        .when_ended(move |run| ended.close(run))
}

fn preview_action(browsers: &Browsers, number: u32, scope: &ToolScope, verb: &str) -> Result<Preview, BrowserError> {
    let session = browsers.session_of(scope).ok_or(BrowserError::NoPage)?;
    let elements = lock(&session.elements);
    let element = elements.seen(number).ok_or(BrowserError::NoElement(number))?;
    Ok(Preview { summary: format!("{verb} {} on {}", element.words(), elements.url), ..Preview::default() })
}

struct BrowserOpen(pub Browsers);

#[derive(Debug, Deserialize)]
struct OpenArgs {
    url: String,
}

impl ToolHandler for BrowserOpen {
    type Args = OpenArgs;
    const NAME: &'static str = "browser_open";

    async fn preview(&self, args: OpenArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        let target = address_guard::checked_url(address_guard::parse_url(&args.url)?)?;
        Ok(Preview { summary: format!("opens {} in a browser and runs its scripts", target.url), ..Preview::default() })
    }

    async fn run(&self, args: OpenArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        // Checked before a browser is started.
        let url = address_guard::parse_url(&args.url)?;
        let url = address_guard::checked_url(url)?.url;
        self.0.config().client.checked_addresses(&url).await?;
        Ok(actions::open_page(&self.0, &url, context).await?)
    }
}

struct BrowserSnapshot(pub Browsers);

#[derive(Debug, Deserialize)]
struct SnapshotArgs {
    part: Option<usize>,
}

impl ToolHandler for BrowserSnapshot {
    type Args = SnapshotArgs;
    const NAME: &'static str = "browser_snapshot";

    async fn run(&self, args: SnapshotArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        Ok(actions::take_snapshot(&self.0, args.part.unwrap_or(1).max(1), context).await?)
    }
}

struct BrowserClick(pub Browsers);

#[derive(Debug, Deserialize)]
struct ClickArgs {
    element: u32,
}

impl ToolHandler for BrowserClick {
    type Args = ClickArgs;
    const NAME: &'static str = "browser_click";

    async fn preview(&self, args: ClickArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(preview_action(&self.0, args.element, scope, "clicks")?)
    }

    async fn run(&self, args: ClickArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        Ok(actions::act(&self.0, args.element, &ElementAction::Click, context).await?)
    }
}

struct BrowserType(pub Browsers);

#[derive(Debug, Deserialize)]
struct TypeArgs {
    element: u32,
    text: String,
    #[serde(default)]
    submit: bool,
}

impl ToolHandler for BrowserType {
    type Args = TypeArgs;
    const NAME: &'static str = "browser_type";

    async fn preview(&self, args: TypeArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let verb = if args.submit { "types and sends, in" } else { "types, in" };
        Ok(Preview { detail: Some(args.text), ..preview_action(&self.0, args.element, scope, verb)? })
    }

    async fn run(&self, args: TypeArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let act = ElementAction::Fill { text: args.text, submit: args.submit };
        Ok(actions::act(&self.0, args.element, &act, context).await?)
    }
}

const SCREENSHOTS: &str = "screenshots";
/// Characters of a call's hash in a file name.
const HASH_CHARS: usize = 8;
/// Bytes of a PNG that hold its width and height.
const PNG_SIZE_BYTES: std::ops::Range<usize> = 16..24;

struct BrowserScreenshot {
    pub browsers: Browsers,
    pub blobs: Arc<dyn Blobs>,
}

impl ToolHandler for BrowserScreenshot {
    type Args = NoArgs;
    const NAME: &'static str = "browser_screenshot";

    async fn preview(&self, _: NoArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(Preview::undoable(format!("writes a picture of the open page into {SCREENSHOTS}/"), None))
    }

    async fn run(&self, _: NoArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let (png, url) = actions::take_screenshot(&self.browsers, context).await?;
        let (width, height) = png_size(&png)
            .ok_or_else(|| ToolsError::refused("the browser gave no picture; open the page again with browser_open"))?;
        let path = screenshot_path(&url, &context.idempotency_key);
        let bytes = png.len();
        let write = move |workspace: &Workspace| Ok(workspace.write_atomic(&path, &png)?);
        let saved = files::save_file(Self::NAME, context, &self.blobs, write).await?;
        let path = &saved.path;
        Ok(ToolOutput {
            data: Some(json!({"path": path, "url": url, "width": width, "height": height, "bytes": bytes})),
            receipt: Some(saved.receipt("wrote")),
            undo: Some(saved.undo),
            provenance: Provenance::from_outside(&url),
            writes: vec![path.clone()],
            ..ToolOutput::text(format!("wrote a picture of {url} to {path} ({width} × {height}, {bytes} bytes)"))
        })
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        files::restore(snapshot, scope, &self.blobs).await
    }
}

fn screenshot_path(url: &str, key: &str) -> String {
    let host = Url::parse(url).ok();
    let host = host.as_ref().and_then(Url::host_str).unwrap_or("page");
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '-' }).take(60).collect();
    let call = &hash::sha256(key.as_bytes())[..HASH_CHARS];
    format!("{SCREENSHOTS}/{host}-{call}.png")
}

fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let both = png.starts_with(b"\x89PNG").then(|| png.get(PNG_SIZE_BYTES)).flatten()?;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_be_bytes);
    Some((number(&both[..4])?, number(&both[4..])?))
}

#[cfg(test)]
mod tests {
    use super::{png_size, screenshot_path};

    #[test]
    fn names_and_sizes() {
        let first = screenshot_path("https://example.org/a", "k1");
        assert!(first.starts_with("screenshots/example.org-"), "{first}");
        assert_ne!(first, screenshot_path("https://example.org/a", "k2"));
        assert!(screenshot_path("about:blank", "k").starts_with("screenshots/page-"));
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 3, 132]);
        assert_eq!(png_size(&png), Some((1280, 900)));
        assert_eq!(png_size(b"<html>"), None);
    }
}
