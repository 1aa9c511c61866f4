use super::cdp::CdpCommand;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Requests in flight that are counted; a page with more is never quiet anyway.
const MAX_COUNTED_REQUESTS: usize = 1000;
const MAX_DIALOGS: usize = 5;
const DIALOG_CHARS: usize = 300;

#[expect(clippy::struct_excessive_bools, reason = "what events say of a page is independent of one another")]
#[derive(Debug, Clone, Default)]
pub(super) struct PageState {
    pub session: String,
    pub frame: String,
    pub documents: u64,
    pub loader: String,
    pub url: String,
    pub parsed: bool,
    pub loaded: bool,
    pub starting: bool,
    /// Document and HTTP status of the last response for the main frame.
    pub answered: Option<(String, u16)>,
    pub requests: HashSet<String>,
    pub dialogs: Vec<String>,
    pub window: Option<String>,
    pub download: Option<String>,
    pub crashed: bool,
}

impl PageState {
    pub fn status(&self) -> Option<u16> {
        let answered = self.answered.as_ref();
        answered.filter(|(loader, _)| *loader == self.loader).map(|(_, status)| *status)
    }

    pub fn settled(&self) -> bool {
        self.loaded && !self.starting || self.crashed
    }

    /// Applies an event; some need an answer at once.
    pub fn take(&mut self, method: &str, params: &Value) -> Option<CdpCommand> {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let main = params["frameId"].as_str() == Some(&self.frame);
        match method {
            "Page.lifecycleEvent" if main => self.lifecycle(params),
            "Page.frameNavigated" => {
                let frame = &params["frame"];
                if frame["id"].as_str() == Some(&self.frame) {
                    self.url = text(&frame["url"]) + frame["urlFragment"].as_str().unwrap_or("");
                }
            }
            "Page.navigatedWithinDocument" if main => self.url = text(&params["url"]),
            "Page.frameStartedLoading" if main => self.starting = true,
            "Page.frameStoppedLoading" if main => self.starting = false,
            "Page.windowOpen" => self.window = Some(text(&params["url"])),
            "Page.downloadWillBegin" | "Browser.downloadWillBegin" => {
                self.download = Some(text(&params["url"]));
            }
            "Page.javascriptDialogOpening" => return Some(self.dialog(params)),
            "Inspector.targetCrashed" => self.crashed = true,
            "Network.requestWillBeSent" if self.requests.len() < MAX_COUNTED_REQUESTS => {
                self.requests.insert(text(&params["requestId"]));
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.requests.remove(params["requestId"].as_str().unwrap_or(""));
            }
            "Network.responseReceived" if main && params["type"] == "Document" => {
                let status = params["response"]["status"].as_u64();
                let status = status.and_then(|status| u16::try_from(status).ok());
                self.answered = Some((text(&params["loaderId"]), status.unwrap_or(0)));
            }
            _ => {}
        }
        None
    }

    fn lifecycle(&mut self, params: &Value) {
        let loader = params["loaderId"].as_str().unwrap_or("");
        match params["name"].as_str().unwrap_or("") {
            "init" | "commit" if loader != self.loader => {
                loader.clone_into(&mut self.loader);
                self.documents += 1;
                (self.parsed, self.loaded) = (false, false);
                self.requests.clear();
            }
            "DOMContentLoaded" if loader == self.loader => self.parsed = true,
            "load" if loader == self.loader => (self.parsed, self.loaded) = (true, true),
            _ => {}
        }
    }

    /// Dismisses a dialog, since it blocks everything; leaving a page is allowed.
    fn dialog(&mut self, params: &Value) -> CdpCommand {
        let kind = params["type"].as_str().unwrap_or("dialog");
        let leaving = kind == "beforeunload";
        if !leaving && self.dialogs.len() < MAX_DIALOGS {
            let message: String = params["message"].as_str().unwrap_or("").chars().take(DIALOG_CHARS).collect();
            self.dialogs.push(format!("{kind}: {message}"));
        }
        ("Page.handleJavaScriptDialog", json!({"accept": leaving}))
    }
}

#[cfg(test)]
mod tests {
    use super::PageState;
    use serde_json::json;

    #[test]
    fn one_document_after_another() {
        let mut state = PageState { frame: "f".to_owned(), ..PageState::default() };
        let event = |state: &mut PageState, name: &str, loader: &str| {
            let params = json!({"frameId": "f", "loaderId": loader, "name": name});
            state.take("Page.lifecycleEvent", &params);
        };
        event(&mut state, "init", "a");
        event(&mut state, "load", "a");
        assert!(state.loaded && state.parsed);
        let answer = json!({"frameId": "f", "loaderId": "b", "type": "Document", "response": {"status": 404}});
        state.take("Network.responseReceived", &answer);
        assert_eq!(state.status(), None, "not that document's");
        event(&mut state, "init", "b");
        assert!(!state.loaded);
        assert_eq!(state.status(), Some(404));
        event(&mut state, "load", "a");
        assert!(!state.loaded, "an event of the document before");
        event(&mut state, "DOMContentLoaded", "b");
        assert!(state.parsed && !state.loaded);
        let other = json!({"frameId": "g", "loaderId": "c", "name": "init"});
        state.take("Page.lifecycleEvent", &other);
        assert_eq!(state.loader, "b");
    }

    #[test]
    fn dialogs_are_answered() {
        let mut state = PageState { frame: "f".to_owned(), ..PageState::default() };
        let told = |state: &mut PageState, kind: &str| {
            let params = json!({"type": kind, "message": "really?"});
            state.take("Page.javascriptDialogOpening", &params)
        };
        let (method, params) = told(&mut state, "confirm").unwrap_or_default();
        assert_eq!((method, params), ("Page.handleJavaScriptDialog", json!({"accept": false})));
        assert!(told(&mut state, "beforeunload").is_some_and(|(_, params)| params["accept"] == true));
        assert_eq!(state.dialogs, ["confirm: really?"]);
    }
}
