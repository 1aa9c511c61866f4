//! Check digits of numbers that states and banks give out.

use serde::Deserialize;

use super::scan::digits;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The number has none, or its rule is not public.
    None,
    Luhn,
    GermanTax,
    GermanInsurance,
    FrenchInsurance,
    SpanishIdentity,
    SpanishInsurance,
    ItalianTax,
    DutchCitizen,
    BritishHealth,
    Pesel,
    Cpf,
    Ean13,
    BelgianRegister,
    FinnishIdentity,
    SwedishIdentity,
    Verhoeff,
    IrishService,
    BirthNumber,
    ChileanRun,
    PortugueseTax,
    AustrianInsurance,
}

impl Check {
    /// Spaces and signs in `text` don't count.
    pub fn holds(self, text: &str) -> bool {
        let d = digits(text);
        match self {
            Self::None => true,
            Self::Luhn => luhn(&d),
            Self::GermanTax => german_tax(&d),
            Self::GermanInsurance => german_insurance(text),
            Self::FrenchInsurance => french_insurance(text),
            Self::SpanishIdentity => spanish_identity(text),
            Self::SpanishInsurance => d.len() == 12 && number(&d[..10]) % 97 == number(&d[10..]),
            Self::ItalianTax => italian_tax(text),
            Self::DutchCitizen => {
                d.len() == 9 && (weighted(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) + 10 * u32::from(d[8])).is_multiple_of(11)
            }
            Self::BritishHealth => {
                d.len() == 10 && (11 - weighted(&d, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 == u32::from(d[9])
            }
            Self::Pesel => pesel(&d),
            Self::Cpf => cpf(&d),
            Self::Ean13 => d.len() == 13 && weighted(&d, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10),
            Self::BelgianRegister => {
                let first = number(d.get(..9).unwrap_or_default());
                d.len() == 11 && [first, first + 2_000_000_000].iter().any(|n| 97 - n % 97 == number(&d[9..]))
            }
            Self::FinnishIdentity => {
                let last = text.chars().last();
                let signs = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
                let sign = signs.get(usize::try_from(number(d.get(..9).unwrap_or_default()) % 31).unwrap_or_default());
                d.len() >= 9 && sign.map(|sign| char::from(*sign)) == last
            }
            Self::SwedishIdentity => {
                let short = d.get(d.len().saturating_sub(10)..).unwrap_or_default();
                short.len() == 10 && luhn(short) && is_day(number(&short[2..4]), number(&short[4..6]) % 60)
            }
            Self::Verhoeff => verhoeff(&d),
            Self::IrishService => irish_service(text),
            Self::BirthNumber => {
                let month = number(d.get(2..4).unwrap_or_default()) % 50;
                d.len() == 10 && number(&d).is_multiple_of(11) && is_day(month, number(&d[4..6]))
            }
            Self::ChileanRun => chilean_run(text),
            Self::PortugueseTax => {
                let sum = weighted(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
                d.len() == 9 && (if sum < 2 { 0 } else { 11 - sum }) == u32::from(d[8])
            }
            Self::AustrianInsurance => {
                d.len() == 10 && weighted(&d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 == u32::from(d[3])
            }
        }
    }
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0_u64, |number, digit| number.wrapping_mul(10).wrapping_add(u64::from(*digit)))
}

fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

fn is_day(month: u64, day: u64) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

pub fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = (digits.iter().rev().enumerate())
        .map(|(place, digit)| if place % 2 == 1 { u32::from(*digit) * 2 } else { u32::from(*digit) })
        .map(|value| value / 10 + value % 10)
        .sum();
    digits.len() > 1 && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != 0)
}

/// The remainder of an account number by 97, with its first four characters put last and letters from 10 on; right is 1.
pub fn mod_97(account: &[u8]) -> u32 {
    let (head, tail) = account.split_at(account.len().min(4));
    tail.iter().chain(head).fold(0, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        letter => (remainder * 100 + u32::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 10) % 97,
    })
}

/// Of the first ten digits one occurs twice or three times.
fn german_tax(d: &[u8]) -> bool {
    if d.len() != 11 {
        return false;
    }
    let mut counts = [0_u8; 10];
    d[..10].iter().for_each(|digit| counts[usize::from(*digit)] += 1);
    let repeated: Vec<_> = counts.iter().filter(|count| **count > 1).collect();
    let product = d[..10].iter().fold(10, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    repeated.len() == 1 && *repeated[0] <= 3 && (11 - product) % 10 == u32::from(d[10])
}

fn german_insurance(text: &str) -> bool {
    let mut values = Vec::new();
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => values.push(byte - b'0'),
            b'A'..=b'Z' => values.extend([(byte - b'A' + 1) / 10, (byte - b'A' + 1) % 10]),
            _ => {}
        }
    }
    let weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
    let sums = values.iter().zip(weights).map(|(value, weight)| u32::from(*value) * weight);
    let sum: u32 = sums.map(|product| product / 10 + product % 10).sum();
    values.len() == 13 && sum % 10 == u32::from(values[12])
}

/// Departments 2A and 2B of Corsica count as 19 and 18.
fn french_insurance(text: &str) -> bool {
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let d = digits(&compact.to_ascii_uppercase().replace("2A", "19").replace("2B", "18"));
    d.len() == 15 && 97 - number(&d[..13]) % 97 == number(&d[13..])
}

fn spanish_identity(text: &str) -> bool {
    let compact: Vec<u8> =
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_uppercase()).collect();
    let Some((letter, rest)) = compact.split_last() else { return false };
    let value = rest.iter().fold(0_usize, |value, byte| match byte {
        b'0'..=b'9' => value * 10 + usize::from(byte - b'0'),
        _ => usize::from(byte.saturating_sub(b'X')),
    });
    rest.len() == 8 && b"TRWAGMYFPDXBNJZSQVHLCKE"[value % 23] == *letter
}

fn italian_tax(text: &str) -> bool {
    const ODD: [usize; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let values: Vec<usize> = (text.bytes())
        .map(|byte| byte.to_ascii_uppercase())
        .map(|byte| usize::from(if byte.is_ascii_digit() { byte - b'0' } else { byte.saturating_sub(b'A') }))
        .collect();
    if values.len() != 16 || values.iter().any(|value| *value > 25) {
        return false;
    }
    let sum: usize = (0..15).map(|at| if at % 2 == 0 { ODD[values[at]] } else { values[at] }).sum();
    sum % 26 == values[15]
}

/// The month tells the century: 01 to 12, or 21 to 32 since 2000.
fn pesel(d: &[u8]) -> bool {
    let month = number(d.get(2..4).unwrap_or_default());
    d.len() == 11
        && is_day(if month > 20 { month - 20 } else { month }, number(&d[4..6]))
        && (10 - weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10 == u32::from(d[10])
}

fn cpf(d: &[u8]) -> bool {
    let digit = |weights: &[u32]| (weighted(d, weights) * 10 % 11) % 10;
    d.len() == 11
        && d.iter().any(|digit| *digit != d[0])
        && digit(&[10, 9, 8, 7, 6, 5, 4, 3, 2]) == u32::from(d[9])
        && digit(&[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) == u32::from(d[10])
}

/// The tables of the dihedral group of order ten.
fn verhoeff(d: &[u8]) -> bool {
    const NEXT: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let product = |a: usize, b: usize| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let sum = d.iter().rev().enumerate().fold(0, |sum, (place, digit)| {
        let permuted = (0..place % 8).fold(usize::from(*digit), |value, _| NEXT[value]);
        product(sum, permuted)
    });
    d.len() == 12 && sum == 0
}

fn irish_service(text: &str) -> bool {
    let letters: Vec<u32> =
        text.bytes().filter(u8::is_ascii_uppercase).map(|byte| u32::from(byte - b'A') + 1).collect();
    let d = digits(text);
    let second = letters.get(1).map_or(0, |letter| letter * 9);
    d.len() == 7
        && letters.first().is_some_and(|letter| (weighted(&d, &[8, 7, 6, 5, 4, 3, 2]) + second) % 23 == letter % 23)
}

fn chilean_run(text: &str) -> bool {
    let mut d: Vec<u8> = text
        .bytes()
        .filter_map(|byte| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'k' | b'K' => Some(10),
            _ => None,
        })
        .collect();
    let Some(last) = d.pop() else { return false };
    let sum: u32 = d
        .iter()
        .rev()
        .zip([2, 3, 4, 5, 6, 7].into_iter().cycle())
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    (11 - sum % 11) % 11 == u32::from(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_numbers_pass_and_each_other_last_digit_fails() {
        for (check, number) in [
            (Check::Luhn, "4111 1111 1111 1111"),
            (Check::GermanTax, "86095742719"),
            (Check::GermanTax, "47 036 892 816"),
            (Check::GermanInsurance, "65 170839 J 003"),
            (Check::FrenchInsurance, "2 55 08 14 168 025 38"),
            (Check::SpanishInsurance, "28 12345678 40"),
            (Check::DutchCitizen, "111222333"),
            (Check::BritishHealth, "943 476 5919"),
            (Check::Pesel, "44051401359"),
            (Check::Cpf, "529.982.247-25"),
            (Check::Ean13, "756.9217.0769.85"),
            (Check::BelgianRegister, "85.07.30-033.28"),
            (Check::SwedishIdentity, "811218-9876"),
            (Check::Verhoeff, "2341 2341 2346"),
            (Check::BirthNumber, "736028/5163"),
            (Check::ChileanRun, "12.345.678-5"),
            (Check::PortugueseTax, "123456789"),
            (Check::AustrianInsurance, "1237 010180"),
        ] {
            assert!(check.holds(number), "{check:?} {number}");
            let (head, last) = number.split_at(number.len() - 1);
            let other = (last.parse::<u8>().unwrap() + 1) % 10;
            assert!(!check.holds(&format!("{head}{other}")), "{check:?} {head}{other}");
        }
    }

    #[test]
    fn letters_check_too() {
        for (check, right, wrong) in [
            (Check::SpanishIdentity, "12345678Z", "12345678A"),
            (Check::SpanishIdentity, "X1234567L", "X1234567M"),
            (Check::ItalianTax, "RSSMRA85M01H501Q", "RSSMRA85M01H501R"),
            (Check::FinnishIdentity, "131052-308T", "131052-308S"),
            (Check::IrishService, "1234567T", "1234567U"),
            (Check::IrishService, "1234567FA", "1234567GA"),
            (Check::ChileanRun, "10.000.013-K", "10.000.013-1"),
        ] {
            assert!(check.holds(right), "{check:?} {right}");
            assert!(!check.holds(wrong), "{check:?} {wrong}");
        }
    }

    #[test]
    fn accounts_have_the_remainder_one() {
        assert_eq!(mod_97(b"DE89370400440532013000"), 1);
        assert_eq!(mod_97(b"GB82WEST12345698765432"), 1);
        assert_ne!(mod_97(b"DE89370400440532013001"), 1);
    }
}
