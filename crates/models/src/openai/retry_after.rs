//! The wait that an endpoint asks for.

use reqwest::header::HeaderMap;

/// Longest wait believed, milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// Milliseconds to wait. A date counts from the endpoint's own `Date`, so that no clock is needed.
pub(super) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| millis(text, 1.0)) {
        return Some(ms);
    }
    let text = header("retry-after")?;
    millis(text, 1000.0).or_else(|| {
        let then = httpdate::parse_http_date(text).ok()?;
        let now = httpdate::parse_http_date(header("date")?).ok()?;
        let wait = then.duration_since(now).unwrap_or_default();
        Some(wait.as_secs().saturating_mul(1000).min(LONGEST))
    })
}

fn millis(text: &str, unit: f64) -> Option<u64> {
    let value = text.parse::<f64>().ok()? * unit;
    if !value.is_finite() || value < 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "between 0 and a day"
    )]
    Some(value.min(LONGEST as f64).ceil() as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::retry_after_ms;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn check(headers: &[(&'static str, &'static str)], expect: Option<u64>) {
        let map: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        assert_eq!(retry_after_ms(&map), expect, "{headers:?}");
    }

    #[test]
    fn every_form_of_the_header() {
        check(&[], None);
        check(&[("retry-after", "7")], Some(7000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "999999999999")], Some(86_400_000));
        check(&[("retry-after-ms", "12"), ("retry-after", "7")], Some(12));
        let date = ("date", "Wed, 28 Feb 2024 23:59:50 GMT");
        check(&[date, ("retry-after", "Thu, 29 Feb 2024 00:00:20 GMT")], Some(30_000));
        check(&[date, ("retry-after", "Wed, 28 Feb 2024 23:00:00 GMT")], Some(0));
        check(&[("retry-after", "Thu, 29 Feb 2024 00:00:20 GMT")], None);
    }
}
