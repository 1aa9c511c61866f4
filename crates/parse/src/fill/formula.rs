//! Numbers that stand in a formula.

use super::assign::Candidate;
use super::candidates::candidate;
use super::form::{Param, Type};
use super::request::{Span, What};
use super::value;
use serde_json::Value;

/// Highest exponent that is looked at.
const HIGHEST: usize = 12;

/// The coefficients of a polynomial, where an argument wants them.
pub(super) fn coefficients(param: &Param, item: &Type, index: usize, span: &Span) -> Option<Candidate> {
    let wanted =
        param.name.iter().chain(&param.told).any(|word| word.starts_with("coefficient") || word.starts_with("polynom"));
    if span.what != What::Formula || !wanted {
        return None;
    }
    let mut found = polynomial(&span.text)?;
    let lower = param.description.to_lowercase();
    if !(lower.contains("increasing") || lower.contains("ascending")) {
        found.reverse();
    }
    let whole = *item == Type::Integer;
    let values: Option<Vec<Value>> = found.into_iter().map(|number| value::of(number, whole)).collect();
    Some(candidate(span, index, Value::Array(values?), 4.0))
}

/// Coefficients from the constant up: `3x^2 - x + 4` is 4, -1, 3.
fn polynomial(text: &str) -> Option<Vec<f64>> {
    let plain: String = text.rsplit('=').next()?.chars().filter(|c| !c.is_whitespace() && *c != '*').collect();
    // `x**2` has become `x2`, which is read like `x^2`.
    let mut out: Vec<f64> = Vec::new();
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-')).map_or(rest.len(), |(at, _)| at);
        let (term, next) = rest.split_at_checked(end)?;
        rest = next;
        let (number, power) = match term.split_once(|c: char| c.is_ascii_alphabetic()) {
            Some((number, "")) => (number, 1),
            Some((number, power)) => (number, power.trim_start_matches('^').parse().ok()?),
            None => (term, 0),
        };
        let number = match number {
            "" | "+" => 1.0,
            "-" => -1.0,
            number => number.parse::<f64>().ok()?,
        };
        if power > HIGHEST {
            return None;
        }
        if out.len() <= power {
            out.resize(power + 1, 0.0);
        }
        out[power] += number;
    }
    (out.len() > 1).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::polynomial;

    #[test]
    fn terms_are_read() {
        assert_eq!(polynomial("y = 3x^2 + 2x - 4"), Some(vec![-4.0, 2.0, 3.0]));
        assert_eq!(polynomial("x**3 - x"), Some(vec![0.0, -1.0, 0.0, 1.0]));
        assert_eq!(polynomial("x^y"), None);
        assert_eq!(polynomial("é"), None);
        assert_eq!(polynomial(""), None);
    }
}
