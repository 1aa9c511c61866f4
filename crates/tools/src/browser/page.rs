use super::cdp::Cdp;
use super::elements::Elements;
use super::error::BrowserError;
use super::page_state::PageState;
use super::page_text::{self, Snapshot};
use super::proxy::RefusalsSince;
use crate::text::clip;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::locks::lock;
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// A page without requests for so long is taken to be at rest.
const REST_TIME: Duration = Duration::from_millis(300);
const MAX_REST_WAIT: Duration = Duration::from_secs(2);
const MAX_DOCUMENTS: usize = 8;
/// How soon an action shows whether it leads anywhere.
const REACTION_TIME: Duration = Duration::from_millis(250);
const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_FRAMES: usize = 20;
const ADDRESS_CHARS: usize = 200;

#[derive(Debug)]
pub(super) struct Page {
    cdp: Cdp,
    session: String,
    state: Arc<watch::Sender<PageState>>,
    pub open: bool,
}

struct StopLoadingGuard<'a>(Option<&'a Page>);

impl Drop for StopLoadingGuard<'_> {
    fn drop(&mut self) {
        if let Some(page) = self.0 {
            page.cdp.send(&page.session, "Page.stopLoading", &json!({}));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadState {
    Whole,
    /// The text is there; the rest is still loading.
    Partly,
}

impl Page {
    /// Creates the page, with its requests sent to the proxy at `port`, and enables the events that are used.
    pub async fn attach(cdp: Cdp, state: Arc<watch::Sender<PageState>>, port: u16) -> Result<Self, BrowserError> {
        let proxied = json!({"proxyServer": format!("http://127.0.0.1:{port}"), "proxyBypassList": "<-loopback>"});
        let mut context = cdp.call(None, "Target.createBrowserContext", proxied).await?;
        let context = context["browserContextId"].take();
        let wanted = json!({"url": "about:blank", "browserContextId": context});
        let made = cdp.call(None, "Target.createTarget", wanted).await?;
        let target = made["targetId"].as_str().unwrap_or("").to_owned();
        let attached = cdp.call(None, "Target.attachToTarget", json!({"targetId": target, "flatten": true})).await?;
        let session = attached["sessionId"].as_str().unwrap_or("").to_owned();
        state.send_modify(|state| {
            session.clone_into(&mut state.session);
            // The main frame of a page has the id of its target.
            state.frame = target;
        });
        let page = Self { cdp, session, state, open: false };
        let refuse = json!({"behavior": "deny", "eventsEnabled": true, "browserContextId": context});
        page.cdp.call(None, "Browser.setDownloadBehavior", refuse).await?;
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
            ("Inspector.enable", json!({})),
            ("Network.enable", json!({"maxTotalBufferSize": 1 << 20, "maxResourceBufferSize": 1 << 20})),
            ("DOM.enable", json!({})),
        ] {
            page.call(method, params).await?;
        }
        Ok(page)
    }

    pub async fn call(&self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.cdp.call(Some(&self.session), method, params).await
    }

    /// Sends mouse or keyboard input. Its answer may wait for the page that it leads to, so it is not awaited for long.
    pub async fn input(&self, method: &str, params: Value) -> Result<(), BrowserError> {
        match tokio::time::timeout(MAX_REST_WAIT, self.call(method, params)).await {
            Ok(done) => done.map(|_| ()),
            Err(_) => Ok(()),
        }
    }

    pub fn closed(&self) -> bool {
        self.cdp.closed()
    }

    pub fn state(&self) -> watch::Ref<'_, PageState> {
        self.state.borrow()
    }

    /// Opens `url` and waits until the page is at rest. Stops the navigation when the caller gives up.
    pub async fn open(
        &mut self,
        url: &Url,
        refusals: &RefusalsSince,
        limit: Duration,
    ) -> Result<LoadState, BrowserError> {
        self.open = false;
        let done = self.navigate(url, refusals, limit).await;
        self.open = true;
        if !matches!(done, Ok(_) | Err(BrowserError::Status { .. })) {
            self.leave();
        }
        done
    }

    /// Replaces a refused page by an empty one.
    fn leave(&mut self) {
        self.open = false;
        self.cdp.send(&self.session, "Page.navigate", &json!({"url": "about:blank"}));
    }

    async fn navigate(&self, url: &Url, refusals: &RefusalsSince, limit: Duration) -> Result<LoadState, BrowserError> {
        let until = Instant::now() + limit;
        let before = self.clear_action();
        let mut stopping = StopLoadingGuard(Some(self));
        let late = || BrowserError::Late { what: clip(url.as_str(), ADDRESS_CHARS), ms: limit.as_millis() };
        let asked = self.call("Page.navigate", json!({"url": url.as_str()}));
        let asked = tokio::time::timeout_at(until, asked).await.map_err(|_| late())??;
        if let Some(text) = asked["errorText"].as_str().filter(|text| !text.is_empty()) {
            stopping.0 = None;
            return Err(self.failure(url, text, refusals).await);
        }
        if asked.get("loaderId").is_some() {
            let begun = self.wait(until, |state| state.documents > before).await?;
            if !begun {
                return Err(late());
            }
        }
        let settled = self.settle(until).await?.ok_or_else(late)?;
        if settled == LoadState::Whole {
            stopping.0 = None;
        }
        self.check_result(refusals)?;
        Ok(settled)
    }

    /// Forgets what belongs to the action before. Returns the number of documents so far.
    pub fn clear_action(&self) -> u64 {
        self.state.send_modify(|state| {
            state.dialogs.clear();
            (state.window, state.download) = (None, None);
        });
        self.state.borrow().documents
    }

    /// Waits for what an action leads to: a page, requests, or nothing. A window that it wants to open is opened here.
    pub async fn wait_after_action(
        &mut self,
        refusals: &RefusalsSince,
        limit: Duration,
    ) -> Result<LoadState, BrowserError> {
        let until = Instant::now() + limit;
        tokio::time::sleep(REACTION_TIME).await;
        let window = self.state.borrow().window.clone();
        if let Some(url) =
            window.and_then(|window| Url::parse(&window).ok()).filter(|url| matches!(url.scheme(), "http" | "https"))
        {
            return self.open(&url, &refusals.since_now(), limit).await;
        }
        let settled = self.settle(until).await?.unwrap_or(LoadState::Partly);
        if settled == LoadState::Partly {
            // While another page loads, the present one can't be read.
            self.cdp.send(&self.session, "Page.stopLoading", &json!({}));
            self.wait(Instant::now() + MAX_REST_WAIT, |state| !state.starting).await?;
        }
        let download = self.state.borrow().download.clone();
        if let Some(url) = download {
            return Err(BrowserError::Download(clip(&url, ADDRESS_CHARS)));
        }
        let judged = self.check_result(refusals);
        if matches!(judged, Err(BrowserError::Refused(_))) {
            self.leave();
        }
        judged.map(|()| settled)
    }

    /// Waits until documents and requests are at rest; `None` when not even a document's text arrived.
    async fn settle(&self, until: Instant) -> Result<Option<LoadState>, BrowserError> {
        for _ in 0..MAX_DOCUMENTS {
            if !self.wait(until, PageState::settled).await? {
                let parsed = self.state.borrow().parsed;
                return Ok(parsed.then_some(LoadState::Partly));
            }
            self.quiet(until).await?;
            if self.state.borrow().settled() {
                return Ok(Some(LoadState::Whole));
            }
        }
        Ok(Some(LoadState::Partly))
    }

    async fn quiet(&self, until: Instant) -> Result<(), BrowserError> {
        let until = until.min(Instant::now() + MAX_REST_WAIT);
        while Instant::now() < until {
            let busy = |state: &PageState| !state.requests.is_empty() || !state.settled();
            let stir = (Instant::now() + REST_TIME).min(until);
            if !busy(&self.state.borrow()) && !self.wait(stir, busy).await? {
                return Ok(());
            }
            if !self.state.borrow().settled() {
                return Ok(());
            }
            self.wait(until, |state| state.requests.is_empty() || !state.settled()).await?;
        }
        Ok(())
    }

    /// Waits until the state fits `wanted`; `false` when time runs out.
    async fn wait(&self, until: Instant, wanted: impl Fn(&PageState) -> bool) -> Result<bool, BrowserError> {
        let mut changes = self.state.subscribe();
        loop {
            if wanted(&changes.borrow_and_update()) {
                return Ok(true);
            }
            if self.closed() {
                return Err(BrowserError::Gone("its process is no longer there".to_owned()));
            }
            let now = Instant::now();
            if now >= until {
                return Ok(false);
            }
            let _ = tokio::time::timeout_at(until.min(now + CHECK_INTERVAL), changes.changed()).await;
        }
    }

    fn check_result(&self, refusals: &RefusalsSince) -> Result<(), BrowserError> {
        let state = self.state.borrow();
        if state.crashed {
            return Err(BrowserError::Crashed);
        }
        let url = Url::parse(&state.url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https" | "about" | "blob")) else {
            let why = format!("the page went to {}, which is no page of the web", clip(&state.url, ADDRESS_CHARS));
            return Err(BrowserError::Refused(refusals.reason(None).unwrap_or(why)));
        };
        let status = state.status().unwrap_or(200);
        if matches!(status, 403 | 502 | 503)
            && let Some(why) = refusals.reason(Some(&url))
        {
            return Err(BrowserError::Refused(why));
        }
        if status >= 400 {
            return Err(BrowserError::Status { url: clip(url.as_str(), ADDRESS_CHARS), status });
        }
        Ok(())
    }

    async fn failure(&self, url: &Url, text: &str, refusals: &RefusalsSince) -> BrowserError {
        if text == "net::ERR_ABORTED" {
            // Events of a download or of a crashed process come right after; on a busy machine, a little later.
            let until = Instant::now() + MAX_REST_WAIT;
            let told = |state: &PageState| state.download.is_some() || state.crashed;
            if let Err(end) = self.wait(until, told).await {
                return end;
            }
            if self.state.borrow().crashed {
                return BrowserError::Crashed;
            }
            if let Some(download) = &self.state.borrow().download {
                return BrowserError::Download(clip(download, ADDRESS_CHARS));
            }
        }
        match refusals.reason(Some(url)).or_else(|| refusals.reason(None)) {
            Some(why) if text.contains("TUNNEL") || text.contains("PROXY") => BrowserError::Refused(why),
            _ => BrowserError::Failed {
                url: clip(url.as_str(), ADDRESS_CHARS),
                why: text.trim_start_matches("net::").to_owned(),
            },
        }
    }

    pub async fn snapshot(&self, elements: &Mutex<Elements>) -> Result<Snapshot, BrowserError> {
        let frames = self.call("Page.getFrameTree", json!({})).await?;
        let mut trees = Vec::new();
        for (id, url) in page_text::frames(&frames["frameTree"], MAX_FRAMES) {
            let asked = json!({"frameId": id});
            match self.call("Accessibility.getFullAXTree", asked).await {
                Ok(mut found) => trees.push((url, found["nodes"].take())),
                // Frames may disappear meanwhile; the first one is the page itself.
                Err(error) if trees.is_empty() => return Err(error),
                Err(BrowserError::Protocol { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let (loader, url, status, dialogs) = {
            let state = self.state.borrow();
            (state.loader.clone(), state.url.clone(), state.status(), state.dialogs.clone())
        };
        let mut elements = lock(elements);
        elements.begin(&loader, &url);
        let mut snapshot = page_text::render_page(&trees, &mut elements);
        (snapshot.url, snapshot.status) = (url, status);
        snapshot.dialogs = dialogs;
        Ok(snapshot)
    }

    /// The visible part of the page, PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        let take = async {
            // A page behind another window is not painted.
            self.call("Page.bringToFront", json!({})).await?;
            let params = json!({"format": "png", "captureBeyondViewport": false});
            self.call("Page.captureScreenshot", params).await
        };
        let late = |_| BrowserError::Late { what: "the screenshot".to_owned(), ms: SCREENSHOT_TIMEOUT.as_millis() };
        let taken = tokio::time::timeout(SCREENSHOT_TIMEOUT, take).await.map_err(late)??;
        let text = taken["data"].as_str().unwrap_or("");
        STANDARD.decode(text).map_err(|error| BrowserError::Protocol {
            method: "Page.captureScreenshot".to_owned(),
            message: error.to_string(),
        })
    }
}
