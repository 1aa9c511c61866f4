use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{FaultKind, PythonFault, PythonLimits};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct End {
    /// As returned by `waitpid`.
    pub status: i32,
    /// Killed at its wall time.
    pub late: bool,
    /// Most memory at a time, beyond what the interpreter has anyway, bytes.
    pub peak: u64,
}

/// The exit code of `work` in the interpreter if something of the interpreter itself failed.
const BROKEN: i32 = 98;

/// Exactly one of the two is set. The call writes it, so it is believed only in what concerns the call itself.
#[derive(Debug, Deserialize)]
struct Frame<'a> {
    /// In a list of one, so that `null` is a value too.
    #[serde(borrow)]
    ok: Option<(&'a RawValue,)>,
    error: Option<ReportedError>,
}

#[derive(Debug, Deserialize)]
struct ReportedError {
    kind: String,
    #[serde(rename = "type")]
    class: String,
    message: String,
    line: Option<u32>,
    name: Option<String>,
}

pub(super) fn read(end: End, frame: &[u8], limits: &PythonLimits, allowed: &str) -> Result<Value, PythonFault> {
    let wall_ms = limits.wall.as_millis();
    // The cap counts what is allocated, of which the rest was not touched yet.
    let full = end.peak >= limits.memory_bytes / 4 * 3;
    if end.late || libc::WIFSIGNALED(end.status) && libc::WTERMSIG(end.status) == libc::SIGXCPU {
        return Err(fault(
            FaultKind::Timeout,
            format!("the code ran longer than {wall_ms} ms and was stopped"),
            "Do less in one call, or give it less data",
        ));
    }
    if !(libc::WIFEXITED(end.status) && libc::WEXITSTATUS(end.status) == 0) || frame.is_empty() {
        return Err(killed(end.status, full));
    }
    let Ok(frame) = serde_json::from_slice::<Frame<'_>>(frame) else {
        return Err(fault(
            FaultKind::ResultNotJson,
            "what the code returned is no JSON".to_owned(),
            "Return plain values: None, booleans, numbers, text, lists and dicts",
        ));
    };
    match (frame.ok, frame.error) {
        (Some((text,)), None) => value(text.get()),
        (None, Some(reported)) => Err(fault_of(reported, allowed, full)),
        _ => Err(killed(end.status, false)),
    }
}

fn value(text: &str) -> Result<Value, PythonFault> {
    if long_integer(text) {
        return Err(fault(
            FaultKind::ResultNotJson,
            "the result holds an integer of more than 64 bits".to_owned(),
            "Return it as text: str(n)",
        ));
    }
    serde_json::from_str(text).map_err(|error| {
        fault(
            FaultKind::ResultNotJson,
            format!("the result cannot be passed on: {error}"),
            "Return values that are not nested deeply, and text of whole characters",
        )
    })
}

/// As a number it would silently lose its last digits.
fn long_integer(text: &str) -> bool {
    let mut in_text = false;
    let mut escaped = false;
    let mut token = String::new();
    let too_long = |token: &str| {
        !token.is_empty()
            && !token.contains(['.', 'e', 'E'])
            && token.parse::<i64>().is_err()
            && token.parse::<u64>().is_err()
            && token != "-"
    };
    for c in text.chars() {
        if in_text {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_text = false,
                _ => {}
            }
            continue;
        }
        if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') || (matches!(c, 'e' | 'E') && !token.is_empty()) {
            token.push(c);
            continue;
        }
        if too_long(&token) {
            return true;
        }
        token.clear();
        in_text = c == '"';
    }
    too_long(&token)
}

fn fault_of(reported: ReportedError, allowed: &str, full: bool) -> PythonFault {
    // Out of memory, CPython may lose the exception on its way.
    if reported.kind == "memory" || full && reported.kind == "raised" && reported.class == "SystemError" {
        return memory();
    }
    let at = reported.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let separator = if reported.message.is_empty() { "" } else { ": " };
    let plain = format!("{}{separator}{}{at}", reported.class, reported.message);
    let (kind, message, hint) = match reported.kind.as_str() {
        "syntax" => (FaultKind::Syntax, plain, "Mend the code; it must be Python 3".to_owned()),
        "no_entry" => (
            FaultKind::NoEntry,
            reported.message,
            "Define `def run(payload):`, with this one parameter and without `async`, and return the result".to_owned(),
        ),
        "import_refused" => (
            FaultKind::ImportRefused,
            format!("{} cannot be imported{at}", reported.name.unwrap_or_default()),
            format!("These modules are there: {allowed}"),
        ),
        "result_not_json" => (
            FaultKind::ResultNotJson,
            format!("the result has no JSON form: {}", reported.message),
            "Return plain values: list(…) of a set, .isoformat() of a date, None instead of NaN".to_owned(),
        ),
        _ if reported.class == "PermissionError" => (
            FaultKind::Denied,
            plain,
            "There are no files, programs or network here; take what you need from the payload".to_owned(),
        ),
        _ => (FaultKind::Raised, plain, "Mend the code, or the payload".to_owned()),
    };
    PythonFault { kind, message, hint, line: reported.line }
}

fn memory() -> PythonFault {
    fault(FaultKind::Memory, "the code reached its memory cap".to_owned(), "Hold less at a time, or give it less data")
}

/// `full`: its memory was full, which explains a crash; an exit by its own choice is still reported as such.
fn killed(status: i32, full: bool) -> PythonFault {
    if full && (libc::WIFSIGNALED(status) || libc::WEXITSTATUS(status) == BROKEN) {
        return memory();
    }
    let how = if libc::WIFSIGNALED(status) {
        format!("it was ended by signal {}", libc::WTERMSIG(status))
    } else {
        format!("it ended by itself with code {}", libc::WEXITSTATUS(status))
    };
    fault(
        FaultKind::Killed,
        format!("the code's process ended without a result: {how}"),
        "Return from `run`; do not end the process, and do not recurse without end",
    )
}

pub(super) fn fault(kind: FaultKind, message: String, hint: &str) -> PythonFault {
    PythonFault { kind, message, hint: hint.to_owned(), line: None }
}
