use serde_json::Value;

use crate::signing::Signing;

/// Characters of a challenge; Slack's have some sixty.
pub const MAX_CHALLENGE: usize = 1_000;

/// What to answer, as plain text, to a request that only asks whether somebody listens; `None`: it isn't one.
///
/// Slack sends it, signed, when an address is entered.
pub fn answer_challenge(signing: &Signing, payload: &Value) -> Option<String> {
    if *signing != Signing::Slack || payload.get("type")?.as_str()? != "url_verification" {
        return None;
    }
    let challenge = payload.get("challenge")?.as_str()?;
    (challenge.chars().count() <= MAX_CHALLENGE).then(|| challenge.to_owned())
}
