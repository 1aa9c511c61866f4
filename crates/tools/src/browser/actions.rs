use super::element_actions::ElementTarget;
use super::error::BrowserError;
use super::launch::start;
use super::page::{LoadState, Page};
use super::page_text::Snapshot;
use super::proxy::RefusalsSince;
use super::sessions::{BrowserSession, Browsers};
use crate::handler::Context;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::provenance::Provenance;
use steward_core::tool::{Receipt, ToolOutput, Undo};
use url::Url;

/// Left of the call's time for the answer itself.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);
const MAX_REFUSALS_SHOWN: usize = 5;
const REFUSAL_CHARS: usize = 200;

fn load_limit(browsers: &Browsers, context: &Context) -> Duration {
    let left = context.left().saturating_sub(ANSWER_MARGIN);
    left.min(browsers.config().load)
}

/// Runs `work` within the call's time; removes a browser that ended meanwhile, and reports why it did.
async fn guarded<T>(
    browsers: &Browsers,
    session: &Arc<BrowserSession>,
    context: &Context,
    what: &str,
    work: impl Future<Output = Result<T, BrowserError>>,
) -> Result<T, BrowserError> {
    let limit = context.left();
    let work = Box::pin(work);
    let done = tokio::select! {
        done = work => done,
        () = context.halt() => Err(if context.scope.stopped() {
            BrowserError::Stopped(what.to_owned())
        } else {
            BrowserError::Late { what: what.to_owned(), ms: limit.as_millis() }
        }),
    };
    session.touch(&context.scope.cancellation);
    match done {
        Err(BrowserError::Gone(why)) => {
            let words = browsers.remove_failed(context.scope.run, session).await;
            Err(BrowserError::Gone(words.unwrap_or(why)))
        }
        Err(BrowserError::Crashed) => {
            browsers.remove_failed(context.scope.run, session).await;
            Err(BrowserError::Crashed)
        }
        other => other,
    }
}

/// [`guarded`] work with the open page of the run.
async fn on_page<T>(
    browsers: &Browsers,
    context: &Context,
    what: &str,
    work: impl AsyncFnOnce(&mut Page, &BrowserSession) -> Result<T, BrowserError>,
) -> Result<T, BrowserError> {
    let session = browsers.session_of(&context.scope).ok_or(BrowserError::NoPage)?;
    let work = async {
        let mut held = session.page.lock().await;
        let page = held.as_mut().filter(|page| page.open).ok_or(BrowserError::NoPage)?;
        context.scope.consulted.outside(&page.state().url);
        work(page, &session).await
    };
    guarded(browsers, &session, context, what, work).await
}

pub(super) async fn open_page(browsers: &Browsers, url: &Url, context: &Context) -> Result<ToolOutput, BrowserError> {
    let session = browsers.get_or_create(context)?;
    let work = async {
        let mut held = session.page.lock().await;
        if held.as_ref().is_none_or(Page::closed) {
            *held = None;
            match Box::pin(start(&browsers.config())).await {
                Ok((process, page)) => {
                    session.keep(process);
                    *held = Some(page);
                }
                Err(error) => {
                    drop(held);
                    browsers.remove_failed(context.scope.run, &session).await;
                    return Err(error);
                }
            }
        }
        let page = held.as_mut().ok_or(BrowserError::NoPage)?;
        let refusals = session.refusals();
        context.scope.consulted.outside(url.as_str());
        let settled = page.open(url, &refusals, load_limit(browsers, context)).await?;
        let snapshot = page.snapshot(&session.elements).await?;
        Ok(page_output(&snapshot, 1, settled, &refusals))
    };
    guarded(browsers, &session, context, url.as_str(), work).await
}

pub(super) async fn take_snapshot(
    browsers: &Browsers,
    part: usize,
    context: &Context,
) -> Result<ToolOutput, BrowserError> {
    let look = async |page: &mut Page, session: &BrowserSession| {
        let snapshot = page.snapshot(&session.elements).await?;
        let last = snapshot.parts.len();
        if part > last {
            return Err(BrowserError::Refused(format!("the page has {last} parts; ask for one of them")));
        }
        let settled = if page.state().settled() { LoadState::Whole } else { LoadState::Partly };
        Ok(page_output(&snapshot, part, settled, &session.refusals()))
    };
    on_page(browsers, context, "a look at the page", look).await
}

#[derive(Debug, Clone)]
pub(super) enum ElementAction {
    Click,
    Fill { text: String, submit: bool },
}

/// Acts on an element. Returns the page that resulted.
pub(super) async fn act(
    browsers: &Browsers,
    number: u32,
    act: &ElementAction,
    context: &Context,
) -> Result<ToolOutput, BrowserError> {
    let work = async |page: &mut Page, session: &BrowserSession| {
        let loader = page.state().loader.clone();
        let element = lock(&session.elements).of(number, &loader);
        let target = ElementTarget { element: element.ok_or(BrowserError::NoElement(number))?, number, page };
        target.check().await?;
        let refusals = session.refusals();
        let object = format!("{} on {}", target.element.words(), page.state().url);
        page.clear_action();
        // From here on the page may have changed something.
        context.check()?;
        let (action, said) = match act {
            ElementAction::Click => {
                target.click().await?;
                ("clicked", format!("clicked {object}"))
            }
            ElementAction::Fill { text, submit } => {
                let held = target.fill(text).await?;
                let sent = if *submit { ", and pressed Enter" } else { "" };
                if *submit {
                    target.submit().await?;
                }
                ("typed", format!("typed `{held}` into {object}{sent}"))
            }
        };
        // The action has happened, so an error of what followed doesn't make it fail.
        let output = match page.wait_after_action(&refusals, load_limit(browsers, context)).await {
            Ok(settled) => page_output(&page.snapshot(&session.elements).await?, 1, settled, &refusals),
            Err(error @ (BrowserError::Gone(_) | BrowserError::Crashed)) => return Err(error),
            Err(error) => ToolOutput {
                provenance: Provenance::from_outside(&page.state().url),
                ..ToolOutput::text(format!("Then: {error}"))
            },
        };
        Ok(ToolOutput {
            content: format!("{said}\n\n{}", output.content),
            receipt: Some(Receipt::new(action, object, None)),
            undo: Some(Undo::Impossible { reason: "what a page does with it happens on its server".to_owned() }),
            ..output
        })
    };
    on_page(browsers, context, "the page", work).await.map_err(|error| match error {
        BrowserError::Late { .. } => BrowserError::Unsettled { why: "its time was over" },
        BrowserError::Stopped(_) => BrowserError::Unsettled { why: "the run was stopped" },
        other => other,
    })
}

pub(super) async fn take_screenshot(browsers: &Browsers, context: &Context) -> Result<(Vec<u8>, String), BrowserError> {
    let take = async |page: &mut Page, _: &BrowserSession| {
        let png = page.screenshot().await?;
        let url = page.state().url.clone();
        Ok((png, url))
    };
    on_page(browsers, context, "the screenshot", take).await
}

fn page_output(snapshot: &Snapshot, part: usize, settled: LoadState, refusals: &RefusalsSince) -> ToolOutput {
    let title = if snapshot.title.is_empty() { "(none)" } else { &snapshot.title };
    let mut content = format!("Title: {title}\nURL: {}\n", snapshot.url);
    for dialog in &snapshot.dialogs {
        let _ = writeln!(content, "[dismissed a dialog: {dialog}]");
    }
    if settled == LoadState::Partly {
        content.push_str("[the page is still loading]\n");
    }
    content.push('\n');
    let text = snapshot.parts.get(part - 1).map_or("", String::as_str);
    content.push_str(if text.trim().is_empty() { "[the page shows no text]\n" } else { text });
    let parts = snapshot.parts.len();
    if part < parts {
        let next = part + 1;
        let _ = writeln!(content, "[part {part} of {parts}; browser_snapshot with part {next} shows the next]");
    } else if snapshot.cut {
        content.push_str("[the page goes on; the rest is not read]\n");
    }
    let refused = refusals.list();
    if !refused.is_empty() {
        let words = |why: &str| why.chars().take(REFUSAL_CHARS).collect::<String>();
        let list: Vec<String> = refused.iter().take(MAX_REFUSALS_SHOWN).map(|refusal| words(&refusal.why)).collect();
        let _ = writeln!(content, "[{} of the page's requests were refused: {}]", refused.len(), list.join("; "));
    }
    let data = json!({"url": snapshot.url, "title": title, "status": snapshot.status,
        "part": part, "parts": parts});
    ToolOutput { data: Some(data), provenance: Provenance::from_outside(&snapshot.url), ..ToolOutput::text(content) }
}
