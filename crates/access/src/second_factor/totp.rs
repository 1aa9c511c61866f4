//! Codes by time (RFC 6238): HMAC-SHA-1, six digits, thirty seconds, which is what all apps know.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use steward_core::Timestamp;
use subtle::ConstantTimeEq;

const PERIOD_S: i64 = 30;
const DIGITS: usize = 6;

/// The time step that `code` is of: the present one, or a neighbour, for clocks that are a little off.
pub(super) fn step_of(secret: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    if code.len() != DIGITS || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let present = now.0.div_euclid(1000 * PERIOD_S);
    let mut found = None;
    // All are computed, so that the time does not tell which one it was.
    for step in [present + 1, present, present - 1] {
        let same: bool = code.as_bytes().ct_eq(code_of(secret, step)?.as_bytes()).into();
        if same {
            found = Some(step);
        }
    }
    found
}

fn code_of(secret: &[u8], step: i64) -> Option<String> {
    let mut mac = <Hmac<Sha1> as KeyInit>::new_from_slice(secret).ok()?;
    mac.update(&step.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let at = usize::from(hash.last()? & 0x0f);
    let four: [u8; 4] = hash.get(at..at + 4)?.try_into().ok()?;
    let number = (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000;
    Some(format!("{number:06}"))
}

#[cfg(test)]
mod tests {
    use super::{code_of, step_of};
    use steward_core::Timestamp;

    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, of which apps show the last six digits.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_of(SECRET, seconds / 30).as_deref(), Some(code), "{seconds}");
            assert_eq!(step_of(SECRET, code, Timestamp(seconds * 1000)), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn neighbours_are_taken_and_others_not() {
        let at = |seconds: i64| step_of(SECRET, "050471", Timestamp(1000 * seconds));
        let step = 1_111_111_111 / 30;
        assert_eq!(at(1_111_111_111 + 30), Some(step));
        assert_eq!(at(1_111_111_111 - 30), Some(step));
        assert_eq!(at(1_111_111_111 + 90), None);
        assert_eq!(step_of(SECRET, "050 471", Timestamp(1_111_111_111_000)), Some(step));
        for wrong in ["", "50471", "0504711", "05047x", "abcdef"] {
            assert_eq!(step_of(SECRET, wrong, Timestamp(1_111_111_111_000)), None, "{wrong}");
        }
    }
}
