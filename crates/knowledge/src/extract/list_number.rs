//! Numbers of lists as office programs write them.

/// A number in one of the ways of Word (`decimal`, `lowerLetter`, …); ways that aren't known are decimal.
pub(super) fn written(number: u32, way: &str) -> String {
    match way {
        "none" => String::new(),
        "decimalZero" => format!("{number:02}"),
        "lowerLetter" => letters(number, &LATIN),
        "upperLetter" => letters(number, &LATIN).to_uppercase(),
        "russianLower" => letters(number, &RUSSIAN),
        "russianUpper" => letters(number, &RUSSIAN).to_uppercase(),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => circled(number),
        "ordinal" => format!("{number}{}", ordinal_ending(number)),
        _ => number.to_string(),
    }
}

const LATIN: [char; 26] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w',
    'x', 'y', 'z',
];
/// Without the letters that don't number anything.
const RUSSIAN: [char; 28] = [
    'а', 'б', 'в', 'г', 'д', 'е', 'ж', 'з', 'и', 'к', 'л', 'м', 'н', 'о', 'п', 'р', 'с', 'т', 'у', 'ф', 'х', 'ц', 'ч',
    'ш', 'щ', 'э', 'ю', 'я',
];
/// Most letters of a number; after `z` comes `aa`, then `bb`.
const MOST_LETTERS: u32 = 30;

fn letters(number: u32, alphabet: &[char]) -> String {
    let length = u32::try_from(alphabet.len()).unwrap_or(1);
    let Some(at) = number.checked_sub(1).filter(|at| at / length < MOST_LETTERS) else { return number.to_string() };
    let letter = alphabet[usize::try_from(at % length).unwrap_or(0)];
    (0..=at / length).map(|_| letter).collect()
}

fn roman(number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let (mut rest, mut text) = (number, String::new());
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    text
}

fn circled(number: u32) -> String {
    let sign = (1..=20).contains(&number).then(|| char::from_u32(0x2460 + number - 1)).flatten();
    sign.map_or_else(|| number.to_string(), String::from)
}

fn ordinal_ending(number: u32) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn numbers_are_written_in_many_ways() {
        for (number, way, shown) in [
            (3, "decimal", "3"),
            (3, "decimalZero", "03"),
            (28, "lowerLetter", "bb"),
            (2, "upperLetter", "B"),
            (9, "lowerRoman", "ix"),
            (1994, "upperRoman", "MCMXCIV"),
            (3, "russianLower", "в"),
            (5, "decimalEnclosedCircle", "⑤"),
            (22, "ordinal", "22nd"),
            (7, "chineseCounting", "7"),
            (0, "lowerLetter", "0"),
            (u32::MAX, "lowerLetter", "4294967295"),
        ] {
            assert_eq!(written(number, way), shown, "{way}");
        }
    }
}
