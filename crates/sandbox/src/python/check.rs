//! Whether the walls around a call stand, seen from inside one.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::call;
use super::config::PythonLimits;
use super::frame;
use super::zygote::Zygote;
use crate::process::Check;

const CODE: &str = include_str!("../../data/python/check.py");

/// What the interpreter said of itself, and what a call with every module at hand could not do.
pub(super) async fn barriers(zygote: &Zygote) -> Vec<Check> {
    let limits = PythonLimits::default();
    let input = input(CODE, &json!(null));
    let raw = call::make(zygote, &input, &limits, true, &CancellationToken::new()).await;
    let tried = match raw {
        Ok(raw) => frame::read(raw.end, &raw.frame, &limits, "")
            .map_err(|fault| format!("{fault} {}", raw.stderr.text()))
            .and_then(|value| serde_json::from_value::<Vec<(String, bool, String)>>(value).map_err(|e| e.to_string())),
        Err(error) => Err(format!("{error:?}")),
    };
    let own = zygote.ready.barriers.iter().cloned();
    match tried {
        Ok(tried) => own.chain(tried).map(check).collect(),
        Err(reason) => vec![check(("run the check".to_owned(), false, reason))],
    }
}

fn check((name, ok, detail): (String, bool, String)) -> Check {
    Check { name, ok, detail, hint: (!ok).then(|| "Inline Python is not run while this fails.".to_owned()) }
}

/// What a call reads: the length of the code (4 bytes, little endian), the code, and the payload as JSON.
pub(super) fn input(code: &str, payload: &Value) -> Vec<u8> {
    let mut input = u32::try_from(code.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    input.extend_from_slice(code.as_bytes());
    input.extend_from_slice(payload.to_string().as_bytes());
    input
}
