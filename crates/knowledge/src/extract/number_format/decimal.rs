//! Numbers with digits, fractions and exponents.

use super::code::{Part, Section};
use super::general;

/// The 15 digits that spreadsheets know of a number, rounded as people do to so many decimals: what stands before and
/// behind the point. Zero has no digits before it.
fn rounded(number: f64, decimals: usize) -> (String, String) {
    let text = format!("{number:.14e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    // As many digits stand before the point.
    let mut whole = exponent + 1;
    if whole < 0 {
        digits.splice(0..0, std::iter::repeat_n(0, usize::try_from(-whole).unwrap_or(0)));
        whole = 0;
    }
    let mut whole = usize::try_from(whole).unwrap_or(0);
    let kept = whole + decimals;
    let goes_up = digits.get(kept).is_some_and(|digit| *digit >= 5);
    digits.resize(kept, 0);
    if goes_up {
        let mut at = kept;
        loop {
            if at == 0 {
                digits.insert(0, 1);
                whole += 1;
                break;
            }
            at -= 1;
            digits[at] += 1;
            if digits[at] < 10 {
                break;
            }
            digits[at] = 0;
        }
    }
    let written = |digits: &[u8]| digits.iter().map(|digit| char::from(b'0' + digit)).collect::<String>();
    let before = written(&digits[..whole]);
    (before.trim_start_matches('0').to_owned(), written(&digits[whole..]))
}

pub(super) fn show(section: &Section, number: f64) -> String {
    let parts = section.parts.as_slice();
    let is_digit = |part: &Part| matches!(part, Part::Digit(_));
    let Some(first) = parts.iter().position(is_digit) else {
        return show_without_digits(parts, number);
    };
    let last = parts.iter().rposition(is_digit).unwrap_or(first);
    let percents = parts.iter().filter(|part| **part == Part::Percent).count().min(4);
    let mut magnitude = number.abs() * 100_f64.powi(i32::try_from(percents).unwrap_or(0));
    let slash = parts.iter().position(|part| *part == Part::Slash).filter(|at| *at > first);
    let (shown, is_zero) = if let Some(slash) = slash {
        show_fraction(parts, (first, slash), magnitude)
    } else if let Some(exponent) = parts.iter().position(|part| matches!(part, Part::Exponent(_))) {
        show_exponent(parts, exponent, magnitude)
    } else {
        let thousands = parts[last + 1..].iter().take_while(|part| **part == Part::Comma).count()
            + commas_before_point(parts, first);
        magnitude /= 1000_f64.powi(i32::try_from(thousands.min(20)).unwrap_or(0));
        let shown = show_decimal(parts, magnitude);
        let is_zero = !shown.contains(|letter: char| ('1'..='9').contains(&letter));
        (shown, is_zero)
    };
    if number < 0.0 && !is_zero { format!("-{}", shown.trim_start()) } else { shown }
}

/// What a section without digits shows: its texts, or the number as it is.
fn show_without_digits(parts: &[Part], number: f64) -> String {
    let mut shown = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => shown.push_str(text),
            Part::General | Part::Text => shown.push_str(&general(number)),
            Part::Percent => shown.push('%'),
            _ => {}
        }
    }
    shown
}

/// Commas right before the point divide by thousands, as those at the end do.
fn commas_before_point(parts: &[Part], first: usize) -> usize {
    let point = parts.iter().position(|part| *part == Part::Point).filter(|at| *at > first);
    point.map_or(0, |point| parts[..point].iter().rev().take_while(|part| **part == Part::Comma).count())
}

fn show_decimal(parts: &[Part], number: f64) -> String {
    let point = parts.iter().position(|part| *part == Part::Point).unwrap_or(parts.len());
    let decimals = count_digits(&parts[point..]);
    let (whole, fraction) = rounded(number, decimals);
    let mut shown = show_whole(&parts[..point], &whole);
    show_decimals(&parts[point..], &fraction, &mut shown);
    shown
}

fn count_digits(parts: &[Part]) -> usize {
    parts.iter().filter(|part| matches!(part, Part::Digit(_))).count()
}

/// The digits before the point go into the places from the right; what is left over stands at the first one.
fn show_whole(parts: &[Part], whole: &str) -> String {
    let is_digit = |part: &Part| matches!(part, Part::Digit(_));
    let first = parts.iter().position(is_digit);
    let last = parts.iter().rposition(is_digit);
    let is_grouped = match (first, last) {
        (Some(first), Some(last)) => parts[first..last].contains(&Part::Comma),
        _ => false,
    };
    let mut digits = whole.chars().rev();
    let mut reversed: Vec<char> = Vec::new();
    let mut count = 0;
    let mut push = |digit: char, reversed: &mut Vec<char>| {
        if is_grouped && count > 0 && count % 3 == 0 && digit != ' ' {
            reversed.push(',');
        }
        count += 1;
        reversed.push(digit);
    };
    for (at, part) in parts.iter().enumerate().rev() {
        match part {
            Part::Digit(place) => {
                match (digits.next(), place) {
                    (Some(digit), _) => push(digit, &mut reversed),
                    (None, '0') => push('0', &mut reversed),
                    (None, '?') => push(' ', &mut reversed),
                    (None, _) => {}
                }
                if Some(at) == first {
                    for digit in digits.by_ref() {
                        push(digit, &mut reversed);
                    }
                }
            }
            Part::Literal(text) => reversed.extend(text.chars().rev()),
            Part::Percent => reversed.push('%'),
            _ => {}
        }
    }
    // A format such as `.00` has no place before its point.
    if first.is_none() {
        reversed.extend(digits);
    }
    reversed.iter().rev().collect()
}

fn show_decimals(parts: &[Part], fraction: &str, shown: &mut String) {
    let significant = fraction.trim_end_matches('0').len();
    let mut at = 0;
    for part in parts {
        match part {
            Part::Point => shown.push('.'),
            Part::Digit(place) => {
                match (fraction.get(at..=at), place) {
                    (Some(digit), _) if at < significant => shown.push_str(digit),
                    (_, '0') => shown.push('0'),
                    (_, '?') => shown.push(' '),
                    _ => {}
                }
                at += 1;
            }
            Part::Literal(text) => shown.push_str(text),
            Part::Percent => shown.push('%'),
            _ => {}
        }
    }
}

/// A power of ten; more places before the point make it one of their multiples. Whether it is zero comes second.
fn show_exponent(parts: &[Part], at: usize, number: f64) -> (String, bool) {
    let before = &parts[..at];
    let point = before.iter().position(|part| *part == Part::Point).unwrap_or(before.len());
    let step = i32::try_from(count_digits(&before[..point])).unwrap_or(1).clamp(1, 20);
    let decimals = count_digits(&before[point..]);
    let power_of = |number: f64| {
        format!("{number:.14e}").split_once('e').and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0)
    };
    let mut power = if number == 0.0 { 0 } else { power_of(number).div_euclid(step) * step };
    let mut mantissa = number / 10_f64.powi(power);
    if !mantissa.is_finite() {
        mantissa = number * 10_f64.powi(-power);
    }
    // Rounding may need one place more than there is.
    let length = rounded(mantissa, decimals).0.len();
    if length > usize::try_from(step).unwrap_or(1) {
        power += step;
        mantissa /= 10_f64.powi(step);
    }
    let mut shown = show_decimal(before, mantissa);
    let sign = match parts[at] {
        _ if power < 0 => "-",
        Part::Exponent(true) => "+",
        _ => "",
    };
    shown.push('E');
    shown.push_str(sign);
    shown.push_str(&show_whole(&parts[at + 1..], &power.unsigned_abs().to_string()));
    (shown, number == 0.0)
}

/// Largest denominator of which there may be digits in a format.
const DENOMINATORS: u32 = 99_999;

/// A fraction whose denominator is given, or has at most so many digits. Whether it is zero comes second.
fn show_fraction(parts: &[Part], (first, slash): (usize, usize), number: f64) -> (String, bool) {
    let is_place = |part: &&Part| matches!(part, Part::Digit(_) | Part::Comma);
    let is_space = |part: &Part| matches!(part, Part::Literal(text) if text.trim().is_empty());
    let before = &parts[first..slash];
    let numerator = before.iter().rev().skip_while(|part| is_space(part)).take_while(is_place).count();
    let spaces = before.iter().rev().take_while(|part| is_space(part)).count();
    let has_whole = before.len() > numerator + spaces;
    let after = &parts[slash + 1..];
    let skipped = after.iter().take_while(|part| is_space(part)).count();
    let places = after[skipped..].iter().take_while(is_place).count();
    let given = match &after.get(skipped) {
        Some(Part::Literal(text)) => {
            let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
            // The noughts of `/100` are places of digits.
            let zeros = after[skipped + 1..].iter().take_while(|part| **part == Part::Digit('0')).count();
            format!("{digits}{}", "0".repeat(zeros.min(5)))
                .parse()
                .ok()
                .filter(|given| (1..=DENOMINATORS).contains(given))
        }
        _ => None,
    };
    let whole = if has_whole { number.floor() } else { 0.0 };
    let (mut over, under) = match given {
        Some(given) => (((number - whole) * f64::from(given)).round(), given),
        None => nearest_fraction(number - whole, 10_u32.pow(u32::try_from(places.clamp(1, 5)).unwrap_or(1)) - 1),
    };
    let mut whole = whole;
    if has_whole && over >= f64::from(under) {
        whole += 1.0;
        over = 0.0;
    }
    let texts = |parts: &[Part]| {
        parts
            .iter()
            .filter_map(|part| if let Part::Literal(text) = part { Some(text.as_str()) } else { None })
            .collect()
    };
    let prefix: String = texts(&parts[..first]);
    let suffix: String = if given.is_some() {
        // The denominator itself is a text of the format.
        let text: String = texts(&after[skipped..]);
        text.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned()
    } else {
        texts(&after[(skipped + places).min(after.len())..])
    };
    let fraction = format!("{}/{under}", general(over));
    let shown = match () {
        () if has_whole && over == 0.0 => general(whole),
        () if has_whole && whole > 0.0 => format!("{} {fraction}", general(whole)),
        () => fraction,
    };
    (format!("{prefix}{shown}{suffix}"), whole + over == 0.0)
}

/// The last convergent of the number's continued fraction whose denominator is not larger than `most`, as spreadsheets do.
fn nearest_fraction(number: f64, most: u32) -> (f64, u32) {
    let (mut before, mut last) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = number;
    let most = f64::from(most);
    for _ in 0..40 {
        let term = rest.floor();
        let next = (term * last.0 + before.0, term * last.1 + before.1);
        if next.1 > most {
            break;
        }
        (before, last) = (last, next);
        if (rest - term).abs() < 1e-10 {
            break;
        }
        rest = 1.0 / (rest - term);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 99,999")]
    (last.0, last.1.clamp(1.0, 99_999.0) as u32)
}
