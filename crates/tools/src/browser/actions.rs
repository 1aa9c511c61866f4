use super::element_actions::ElementTarget;
use super::error::BrowserError;
use super::launch::start;
use super::page::{LoadState, Page};
use super::page_text::Snapshot;
use super::proxy::Refusals;
use super::sessions::{BrowserSession, Browsers, lock};
use crate::handler::Context;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::tool::ToolOutput;
use url::Url;

/// Left of the call's time for the answer itself.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);
const MAX_REFUSALS_SHOWN: usize = 5;
const REFUSAL_CHARS: usize = 200;

fn load_limit(browsers: &Browsers, context: &Context) -> Duration {
    let left = context.left().saturating_sub(ANSWER_MARGIN);
    left.min(browsers.config().load)
}

async fn with_deadline<T>(
    context: &Context,
    what: &str,
    work: impl Future<Output = Result<T, BrowserError>>,
) -> Result<T, BrowserError> {
    let limit = context.left();
    tokio::select! {
        done = work => done,
        () = context.halt() => Err(if context.scope.stopped() {
            BrowserError::Stopped(what.to_owned())
        } else {
            BrowserError::Late { what: what.to_owned(), ms: limit.as_millis() }
        }),
    }
}

/// Runs `work`; removes a browser that ended and reports why it did.
async fn with_cleanup<T>(
    browsers: &Browsers,
    context: &Context,
    session: &Arc<BrowserSession>,
    work: impl Future<Output = Result<T, BrowserError>>,
) -> Result<T, BrowserError> {
    let done = work.await;
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

pub(super) async fn open_page(browsers: &Browsers, url: &Url, context: &Context) -> Result<ToolOutput, BrowserError> {
    let session = browsers.get_or_create(context)?;
    let work = async {
        let mut held = session.page.lock().await;
        if held.as_ref().is_none_or(Page::closed) {
            *held = None;
            match Box::pin(start(browsers.config())).await {
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
        let Some(page) = held.as_mut() else {
            return Err(BrowserError::NoPage);
        };
        let (refusals, limit) = (session.refusals(), load_limit(browsers, context));
        let mark = refusals.count();
        let settled = page.open(url, &refusals, limit).await?;
        let snapshot = page.snapshot(&session.elements).await?;
        Ok(page_output(&snapshot, 1, settled, &refusals, mark))
    };
    let work = Box::pin(with_deadline(context, url.as_str(), work));
    with_cleanup(browsers, context, &session, work).await
}

pub(super) async fn take_snapshot(
    browsers: &Browsers,
    part: usize,
    context: &Context,
) -> Result<ToolOutput, BrowserError> {
    let session = browsers.session_of(&context.scope).ok_or(BrowserError::NoPage)?;
    let work = async {
        let held = session.page.lock().await;
        let page = held.as_ref().filter(|page| page.open).ok_or(BrowserError::NoPage)?;
        let snapshot = page.snapshot(&session.elements).await?;
        let last = snapshot.parts.len();
        if part > last {
            return Err(BrowserError::Refused(format!("the page has {last} parts; ask for one of them")));
        }
        let settled = if page.state().settled() { LoadState::Whole } else { LoadState::Partly };
        let refusals = session.refusals();
        let mark = refusals.count();
        Ok(page_output(&snapshot, part, settled, &refusals, mark))
    };
    let work = Box::pin(with_deadline(context, "a look at the page", work));
    with_cleanup(browsers, context, &session, work).await
}

#[derive(Debug, Clone)]
pub(super) enum ElementAction {
    Click,
    Fill { text: String, submit: bool },
}

/// Acts on an element. Returns what was acted on, and the page that resulted.
pub(super) async fn act(
    browsers: &Browsers,
    number: u32,
    act: &ElementAction,
    context: &Context,
) -> Result<(String, ToolOutput), BrowserError> {
    let session = browsers.session_of(&context.scope).ok_or(BrowserError::NoPage)?;
    let work = async {
        let mut held = session.page.lock().await;
        let page = held.as_mut().filter(|page| page.open).ok_or(BrowserError::NoPage)?;
        let loader = page.state().loader.clone();
        let element = lock(&session.elements).of(number, &loader);
        let target = ElementTarget { element: element.ok_or(BrowserError::NoElement(number))?, number, page };
        target.check().await?;
        let refusals = session.refusals();
        let mark = refusals.count();
        let object = format!("{} on {}", target.element.words(), page.state().url);
        page.clear_action();
        // From here on the page may have changed something.
        context.check().map_err(|error| BrowserError::Refused(error.to_string()))?;
        let said = match act {
            ElementAction::Click => {
                target.click().await?;
                format!("clicked {object}")
            }
            ElementAction::Fill { text, submit } => {
                let held = target.fill(text).await?;
                let sent = if *submit { ", and pressed Enter" } else { "" };
                if *submit {
                    target.submit().await?;
                }
                format!("typed `{held}` into {object}{sent}")
            }
        };
        let followed = page.wait_after_action(&refusals, mark, load_limit(browsers, context)).await;
        // The action has happened, so an error of what followed doesn't make it fail.
        let settled = match followed {
            Ok(settled) => settled,
            Err(error @ (BrowserError::Gone(_) | BrowserError::Crashed)) => return Err(error),
            Err(error) => {
                return Ok((
                    object,
                    ToolOutput {
                        tainted: true,
                        origin: Some(page.state().url.clone()),
                        ..ToolOutput::text(format!("{said}\n\nThen: {error}"))
                    },
                ));
            }
        };
        let snapshot = page.snapshot(&session.elements).await?;
        let mut output = page_output(&snapshot, 1, settled, &refusals, mark);
        output.content = format!("{said}\n\n{}", output.content);
        Ok((object, output))
    };
    let work = Box::pin(with_deadline(context, "the page", work));
    let done = with_cleanup(browsers, context, &session, work).await;
    done.map_err(|error| match error {
        BrowserError::Late { .. } => BrowserError::Unsettled { why: "its time was over" },
        BrowserError::Stopped(_) => BrowserError::Unsettled { why: "the run was stopped" },
        other => other,
    })
}

pub(super) async fn take_screenshot(browsers: &Browsers, context: &Context) -> Result<(Vec<u8>, String), BrowserError> {
    let session = browsers.session_of(&context.scope).ok_or(BrowserError::NoPage)?;
    let work = async {
        let held = session.page.lock().await;
        let page = held.as_ref().filter(|page| page.open).ok_or(BrowserError::NoPage)?;
        let png = page.screenshot().await?;
        let url = page.state().url.clone();
        Ok((png, url))
    };
    let work = Box::pin(with_deadline(context, "the screenshot", work));
    with_cleanup(browsers, context, &session, work).await
}

fn page_output(snapshot: &Snapshot, part: usize, settled: LoadState, refusals: &Refusals, mark: u64) -> ToolOutput {
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
    let refused = refusals.since(mark);
    if !refused.is_empty() {
        let words = |why: &str| why.chars().take(REFUSAL_CHARS).collect::<String>();
        let list: Vec<String> = refused.iter().take(MAX_REFUSALS_SHOWN).map(|refusal| words(&refusal.why)).collect();
        let _ = writeln!(content, "[{} of the page's requests were refused: {}]", refused.len(), list.join("; "));
    }
    let data = json!({"url": snapshot.url, "title": title, "status": snapshot.status,
        "part": part, "parts": parts});
    ToolOutput { data: Some(data), tainted: true, origin: Some(snapshot.url.clone()), ..ToolOutput::text(content) }
}
