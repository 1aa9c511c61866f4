//! Account numbers and payment cards.

use std::collections::HashMap;

use serde::Deserialize;

use super::check_digits::{luhn, mod_97};
use super::finding::{Confidence, DetectorError, Finding, PiiKind};
use super::patterns;
use super::scan::is_word;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    /// How long an account number of a country is.
    iban: HashMap<String, usize>,
    card: Vec<Issuer>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Issuer {
    #[expect(dead_code, reason = "tells readers of the data whose range it is")]
    name: String,
    /// The first and the last prefix, of the same length.
    from: u32,
    to: u32,
    lengths: Vec<usize>,
}

#[derive(Debug)]
pub struct Payments {
    ibans: HashMap<[u8; 2], usize>,
    issuers: Vec<Issuer>,
}

impl Payments {
    pub fn read(data: &str) -> Result<Self, DetectorError> {
        let data: Data = patterns::read("payments", data)?;
        let mut ibans = HashMap::new();
        for (country, length) in data.iban {
            let code = <[u8; 2]>::try_from(country.as_bytes())
                .map_err(|_| DetectorError::Data("payments", format!("{country} is no country")))?;
            ibans.insert(code, length);
        }
        Ok(Self { ibans, issuers: data.card })
    }

    /// An account number that begins at `at`, alone or in groups.
    pub fn iban(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        let head = bytes.get(at..at + 4)?;
        if !(head[..2].iter().all(u8::is_ascii_alphabetic) && head[2..].iter().all(u8::is_ascii_digit)) {
            return None;
        }
        let length = *self.ibans.get(&[head[0].to_ascii_uppercase(), head[1].to_ascii_uppercase()])?;
        let (mut account, mut end) = (Vec::with_capacity(length), at);
        while account.len() < length {
            match bytes.get(end)? {
                byte if byte.is_ascii_alphanumeric() => account.push(*byte),
                b' ' | b'-' | b'.' if bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric) => {}
                0xC2 if bytes.get(end + 1) == Some(&0xA0) => end += 1,
                _ => return None,
            }
            end += 1;
        }
        let right = !is_word(text, end) && mod_97(&account) == 1;
        right.then(|| Finding::new(PiiKind::Iban, at..end, Confidence::Certain))
    }

    /// A card number that begins with the digit at `at`: in one piece, or in groups of which the first has four digits.
    pub fn card(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        let (mut number, mut end, mut found) = (Vec::with_capacity(19), at, None);
        let mut separator = None;
        loop {
            let group = bytes[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            number.extend(bytes[end..end + group].iter().map(|byte| byte - b'0'));
            end += group;
            if group < 3 || number.len() > 19 {
                break;
            }
            if self.issued(&number) && luhn(&number) && !is_word(text, end) {
                found = Some(end);
            }
            let next = bytes.get(end).copied().filter(|byte| matches!(byte, b' ' | b'-' | b'.'));
            let goes_on = next.is_some() && (separator.is_none() || separator == next) && group <= 6;
            if !goes_on || (separator.is_none() && group != 4) || !bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
                break;
            }
            separator = next;
            end += 1;
        }
        let end = found?;
        Some(Finding::new(PiiKind::PaymentCard, at..end, Confidence::Certain))
    }

    fn issued(&self, number: &[u8]) -> bool {
        self.issuers.iter().any(|issuer| {
            let length = issuer.from.to_string().len();
            let prefix = number.iter().take(length).fold(0, |prefix, digit| prefix * 10 + u32::from(*digit));
            issuer.lengths.contains(&number.len()) && (issuer.from..=issuer.to).contains(&prefix)
        })
    }
}
