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
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => enclosed(number, 0x2460),
        "decimalEnclosedParen" => enclosed(number, 0x2474),
        "decimalEnclosedFullstop" => enclosed(number, 0x2488),
        "decimalFullWidth" | "decimalFullWidth2" => in_digits(number, &FULL_WIDTH_DIGITS),
        "ordinal" => format!("{number}{}", ordinal_ending(number)),
        "cardinalText" => capitalized(&in_words(number)),
        "ordinalText" => capitalized(&ordinal_in_words(number)),
        "hex" => format!("{number:X}"),
        "numberInDash" => format!("- {number} -"),
        "chicago" => footnote_sign(number),
        "chineseCounting"
        | "chineseCountingThousand"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "japaneseCounting"
        | "koreanCounting2" => chinese(number, '〇'),
        "ideographDigital" | "taiwaneseDigital" | "japaneseDigitalTenThousand" => in_digits(number, &CHINESE_DIGITS),
        "ideographTraditional" => one_of(number, "甲乙丙丁戊己庚辛壬癸"),
        "ideographZodiac" => one_of(number, "子丑寅卯辰巳午未申酉戌亥"),
        "ideographEnclosedCircle" => one_of(number, "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉"),
        "aiueo" | "aiueoFullWidth" => one_of(number, KATAKANA),
        "iroha" | "irohaFullWidth" => one_of(number, IROHA),
        "ganada" => one_of(number, "가나다라마바사아자차카타파하"),
        "chosung" => one_of(number, "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
        "koreanDigital" => in_digits(number, &['영', '일', '이', '삼', '사', '오', '육', '칠', '팔', '구']),
        "hebrew2" => one_of(number, "אבגדהוזחטיכלמנסעפצקרשת"),
        "hebrew1" => hebrew(number),
        "arabicAlpha" => one_of(number, "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"),
        "arabicAbjad" => one_of(number, "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"),
        "hindiNumbers" => in_digits(number, &['०', '१', '२', '३', '४', '५', '६', '७', '८', '९']),
        "thaiNumbers" => in_digits(number, &['๐', '๑', '๒', '๓', '๔', '๕', '๖', '๗', '๘', '๙']),
        "thaiLetters" => one_of(number, "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ"),
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

/// A sign of a row of 20 that begins with that of 1.
fn enclosed(number: u32, first: u32) -> String {
    let sign = (1..=20).contains(&number).then(|| char::from_u32(first + number - 1)).flatten();
    sign.map_or_else(|| number.to_string(), String::from)
}

const FULL_WIDTH_DIGITS: [char; 10] = ['０', '１', '２', '３', '４', '５', '６', '７', '８', '９'];
const CHINESE_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
const KATAKANA: &str = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン";
const IROHA: &str = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン";

fn in_digits(number: u32, digits: &[char; 10]) -> String {
    let digit = |letter: char| letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
    number.to_string().chars().filter_map(digit).filter_map(|digit| digits.get(digit)).collect()
}

/// The character at that place; beyond the last one the number in digits.
fn one_of(number: u32, signs: &str) -> String {
    let at = number.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| signs.chars().nth(at)).map_or_else(|| number.to_string(), String::from)
}

/// `†` after `*`, each twice after all of them.
fn footnote_sign(number: u32) -> String {
    const SIGNS: [char; 4] = ['*', '†', '‡', '§'];
    let Some(at) = number.checked_sub(1).filter(|at| *at < 4 * MOST_LETTERS) else { return number.to_string() };
    let sign = SIGNS[usize::try_from(at % 4).unwrap_or(0)];
    (0..=at / 4).map(|_| sign).collect()
}

/// As it is counted: 十一, 二十, 一百〇五.
fn chinese(number: u32, zero: char) -> String {
    if number == 0 || number > 9999 {
        return if number == 0 { zero.to_string() } else { number.to_string() };
    }
    let (mut text, mut has_gap) = (String::new(), false);
    for (value, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
        let digit = number / value % 10;
        if digit == 0 {
            has_gap |= !text.is_empty();
            continue;
        }
        if std::mem::take(&mut has_gap) {
            text.push(zero);
        }
        if !(digit == 1 && value == 10 && text.is_empty()) {
            text.push(CHINESE_DIGITS[usize::try_from(digit).unwrap_or(0)]);
        }
        text.push_str(unit);
    }
    text
}

/// With letters as numbers; 15 and 16 are written so that they are no name of God.
fn hebrew(number: u32) -> String {
    const LETTERS: [(u32, char); 22] = [
        (400, 'ת'),
        (300, 'ש'),
        (200, 'ר'),
        (100, 'ק'),
        (90, 'צ'),
        (80, 'פ'),
        (70, 'ע'),
        (60, 'ס'),
        (50, 'נ'),
        (40, 'מ'),
        (30, 'ל'),
        (20, 'כ'),
        (10, 'י'),
        (9, 'ט'),
        (8, 'ח'),
        (7, 'ז'),
        (6, 'ו'),
        (5, 'ה'),
        (4, 'ד'),
        (3, 'ג'),
        (2, 'ב'),
        (1, 'א'),
    ];
    if !(1..1000).contains(&number) {
        return number.to_string();
    }
    let (mut rest, mut text) = (number, String::new());
    while rest > 0 {
        let value = if matches!(rest, 15 | 16) { 9 } else { rest };
        let Some((value, letter)) = LETTERS.iter().find(|(one, _)| *one <= value) else { break };
        text.push(*letter);
        rest -= value;
    }
    text
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

fn in_words(number: u32) -> String {
    let of =
        |list: &[&'static str], at: u32| usize::try_from(at).ok().and_then(|at| list.get(at).copied()).unwrap_or("");
    match number {
        0..20 => of(&ONES, number).to_owned(),
        20..100 if number.is_multiple_of(10) => of(&TENS, number / 10).to_owned(),
        20..100 => format!("{}-{}", of(&TENS, number / 10), of(&ONES, number % 10)),
        100..1000 if number.is_multiple_of(100) => format!("{} hundred", of(&ONES, number / 100)),
        100..1000 => format!("{} hundred {}", of(&ONES, number / 100), in_words(number % 100)),
        _ => number.to_string(),
    }
}

fn ordinal_in_words(number: u32) -> String {
    const ODD: [(&str, &str); 8] = [
        ("one", "first"),
        ("two", "second"),
        ("three", "third"),
        ("five", "fifth"),
        ("eight", "eighth"),
        ("nine", "ninth"),
        ("twelve", "twelfth"),
        ("y", "ieth"),
    ];
    if number > 999 {
        return format!("{number}{}", ordinal_ending(number));
    }
    let words = in_words(number);
    let last = words.rfind(['-', ' ']).map_or(0, |at| at + 1);
    let odd = ODD.iter().find(|(cardinal, _)| words[last..] == **cardinal || *cardinal == "y" && words.ends_with('y'));
    match odd {
        Some((cardinal, ordinal)) => format!("{}{ordinal}", words.strip_suffix(cardinal).unwrap_or_default()),
        None => format!("{words}th"),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
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
            (7, "chineseCounting", "七"),
            (10, "chineseCountingThousand", "十"),
            (21, "japaneseCounting", "二十一"),
            (105, "chineseCounting", "一百〇五"),
            (110, "chineseCounting", "一百一十"),
            (20, "ideographDigital", "二〇"),
            (3, "ideographTraditional", "丙"),
            (11, "ideographTraditional", "11"),
            (1, "cardinalText", "One"),
            (342, "cardinalText", "Three hundred forty-two"),
            (1, "ordinalText", "First"),
            (12, "ordinalText", "Twelfth"),
            (20, "ordinalText", "Twentieth"),
            (23, "ordinalText", "Twenty-third"),
            (104, "ordinalText", "One hundred fourth"),
            (12, "decimalFullWidth", "１２"),
            (16, "hebrew1", "טז"),
            (2, "thaiLetters", "ข"),
            (6, "chicago", "††"),
            (3, "noSuchWay", "3"),
            (0, "lowerLetter", "0"),
            (u32::MAX, "lowerLetter", "4294967295"),
        ] {
            assert_eq!(written(number, way), shown, "{way}");
        }
    }
}
