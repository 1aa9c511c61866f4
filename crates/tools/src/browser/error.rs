use crate::error::ToolsError;
use steward_sandbox::process::SandboxError;

#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error("the browser can't be started: {0}")]
    Sandbox(#[from] SandboxError),
    #[error("the browser can't be started: {0}; run `steward doctor` to see what is wrong with it")]
    Start(String),
    #[error(
        "{0} browsers are in use, which is the most; try again when one is free, or use web_fetch, which needs none"
    )]
    Busy(usize),
    #[error("a browser belongs to a run; ask the agent instead")]
    NoRun,
    #[error("no page is open in this run; open one with browser_open")]
    NoPage,
    #[error("the browser ended ({0}); open the page again with browser_open")]
    Gone(String),
    #[error("{0}")]
    Refused(String),
    #[error("{url} can't be opened: {why}; check the address, or try again later")]
    Failed { url: String, why: String },
    #[error("{url} answered with status {status}; check the address, or see what it says with browser_snapshot")]
    Status { url: String, status: u16 },
    #[error("{what} took longer than {ms} ms and was stopped; try again later")]
    Late { what: String, ms: u128 },
    #[error(
        "the page did not come to rest before {why}; what was done may have taken effect: look with browser_snapshot before trying again"
    )]
    Unsettled { why: &'static str },
    #[error("{0} was stopped with the run")]
    Stopped(String),
    #[error("the page's process crashed, and the browser was closed; open another page with browser_open")]
    Crashed,
    #[error("{0} is a download, which browsers of agents refuse; use web_fetch for files of text")]
    Download(String),
    #[error("there is no element {0} on the page any more; look at the page with browser_snapshot")]
    NoElement(u32),
    #[error("element {number} {what}; look at the page with browser_snapshot")]
    Element { number: u32, what: String },
    #[error("the browser refused {method}: {message}")]
    Protocol { method: String, message: String },
}

impl From<ToolsError> for BrowserError {
    fn from(error: ToolsError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<BrowserError> for ToolsError {
    fn from(error: BrowserError) -> Self {
        Self::Refused(error.to_string())
    }
}
