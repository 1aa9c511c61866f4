//! The tools. Agents have them only where they are named: for most requests `web_fetch` is enough, and small models
//! choose better among fewer tools.

mod click;
mod fill;
mod look;
mod open;
mod screenshot;

use super::browsers::Browsers;
use super::slot::lock;
use crate::dispatcher::DispatcherBuilder;
use std::sync::Arc;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{Preview, Receipt, ToolOutput, Undo};

/// Names of the tools; an agent has those that its list names.
pub const BROWSER_TOOLS: [&str; 5] =
    ["browser_open", "browser_snapshot", "browser_click", "browser_type", "browser_screenshot"];

#[must_use]
pub fn with_browser(builder: DispatcherBuilder, browsers: &Browsers, blobs: &Arc<dyn Blobs>) -> DispatcherBuilder {
    let ended = browsers.clone();
    builder
        .with(open::Open(browsers.clone()))
        .with(look::Look(browsers.clone()))
        .with(click::Click(browsers.clone()))
        .with(fill::Fill(browsers.clone()))
        .with(screenshot::Screenshot { browsers: browsers.clone(), blobs: Arc::clone(blobs) })
        .when_ended(move |run| ended.close(run))
}

/// What a call would do to an element: as it was last shown, so that a person knows what is meant.
fn foresee(browsers: &Browsers, number: u32, scope: &ToolScope, verb: &str) -> Preview {
    let Some(slot) = browsers.of(scope) else {
        return Preview {
            summary: format!("would fail: {}", super::error::BrowserError::NoPage),
            ..Preview::default()
        };
    };
    let elements = lock(&slot.elements);
    match elements.seen(number) {
        Some(element) => {
            Preview { summary: format!("{verb} {} on {}", element.words(), elements.url), ..Preview::default() }
        }
        None => Preview {
            summary: format!("would fail: {}", super::error::BrowserError::NoElement(number)),
            ..Preview::default()
        },
    }
}

/// What an action leaves in the log.
fn acted(action: &str, object: String, output: ToolOutput) -> ToolOutput {
    ToolOutput {
        receipt: Some(Receipt { action: action.to_owned(), object, evidence: None }),
        undo: Some(Undo::Impossible { reason: "what a page does with it happens on its server".to_owned() }),
        ..output
    }
}
