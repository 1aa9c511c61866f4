//! Declared encodings that the bytes contradict: letters in what is said to be ASCII, UTF-8 in what is said to be Latin, and
//! Cyrillic or East Asian letters that the declared encoding would show as signs without meaning.

use super::likeliest::{Decoded, Utf8Share, likeliest};
use super::seven_bit;
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, ISO_8859_7, ISO_8859_8, ISO_8859_8_I, KOI8_R, KOI8_U,
    MACINTOSH, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, WINDOWS_1253, WINDOWS_1255,
};

/// Names of ASCII, which `encoding_rs` takes for windows-1252, and of what is no encoding.
const ASCII: &[&str] =
    &["us-ascii", "ascii", "ansi_x3.4-1968", "ansi_x3.4-1986", "iso646-us", "us", "646", "7bit", "x-user-defined"];
const EAST_ASIAN: &[&Encoding] = &[SHIFT_JIS, EUC_JP, ISO_2022_JP, GBK, GB18030, BIG5, EUC_KR];
/// Letters by which one East Asian encoding is told from another.
const TELLING_LETTERS: usize = 12;

/// What `bytes` say if they can't be in the encoding that `label` names, or clearly aren't; `None` where they may be.
/// `read`: how a reader of that encoding understands them, `None` where nobody knows it.
pub(super) fn contradicting(bytes: &[u8], label: &str, read: Option<&str>) -> Option<Decoded> {
    let label = label.trim().to_ascii_lowercase();
    let is_ascii = ASCII.contains(&label.as_str());
    let declared = Encoding::for_label(label.as_bytes()).filter(|_| !is_ascii);
    let is_wide = declared.is_some_and(|one| one == UTF_16LE || one == UTF_16BE);
    if bytes.is_ascii() {
        let text = std::str::from_utf8(bytes).ok()?;
        if is_wide && !bytes.is_empty() && !bytes.contains(&0) {
            return Some(Decoded::known(text.to_owned(), UTF_8.name()));
        }
        let (text, name) = seven_bit::decode(text).filter(|_| declared != Some(ISO_2022_JP))?;
        return Some(Decoded::guessed(text, name));
    }
    let is_unread = is_ascii || read.is_none();
    let share = Utf8Share::of(bytes);
    if share.broken == 0 {
        let is_sure = match declared {
            Some(one) if one == UTF_8 => return None,
            _ if is_wide => !bytes.contains(&0),
            _ if is_unread => true,
            Some(one) if one == WINDOWS_1252 || one == MACINTOSH => true,
            // A letter or two of another encoding may be one of UTF-8.
            _ => share.long > 0 || share.letters > 1,
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        return is_sure.then(|| Decoded::known(text, UTF_8.name()));
    }
    if is_wide || declared == Some(UTF_8) && share.is_mostly() {
        return None;
    }
    let found = likeliest(bytes)?;
    if is_unread || declared == Some(UTF_8) {
        return Some(found);
    }
    let guessed = Encoding::for_label(found.guessed?.as_bytes())?;
    let declared = declared?;
    (!are_alike(declared, guessed) && is_excluded(read?, declared, &found.text, guessed)).then_some(found)
}

/// Whether two encodings have most letters in common.
fn are_alike(one: &'static Encoding, other: &'static Encoding) -> bool {
    const ALIKE: &[&[&Encoding]] =
        &[&[KOI8_R, KOI8_U], &[GBK, GB18030], &[ISO_8859_7, WINDOWS_1253], &[ISO_8859_8, ISO_8859_8_I, WINDOWS_1255]];
    one == other || ALIKE.iter().any(|alike| alike.contains(&one) && alike.contains(&other))
}

fn is_excluded(read: &str, declared: &'static Encoding, found: &str, guessed: &'static Encoding) -> bool {
    let (was, is) = (count_broken(read), count_broken(found));
    if was > 0 || is > 0 {
        return was > 0 && is == 0;
    }
    if EAST_ASIAN.contains(&declared) && EAST_ASIAN.contains(&guessed) {
        return found.chars().filter(|letter| is_east_asian(*letter)).count() >= TELLING_LETTERS;
    }
    let (was, is) = (Oddness::of(read), Oddness::of(found));
    let looks_odd = was.odd > 0 && was.odd * 2 >= was.words && is.odd * 4 <= is.words;
    // Some Cyrillic encodings have small letters where others have capitals.
    let has_wrong_case = was.capitals > was.small && is.small > is.capitals * 2 && is.small > 7;
    looks_odd || has_wrong_case
}

/// Signs that stand for what no letter is.
fn count_broken(text: &str) -> usize {
    text.chars().filter(|letter| matches!(letter, '\u{fffd}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}')).count()
}

fn is_east_asian(letter: char) -> bool {
    letter >= '\u{2e80}'
}

/// How many words of a text look as if they were read in a wrong encoding.
#[derive(Debug, Default)]
struct Oddness {
    /// Of three letters and more, with some beyond ASCII.
    words: usize,
    odd: usize,
    /// Beyond ASCII.
    capitals: usize,
    small: usize,
}

impl Oddness {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let parts = text.split(|letter: char| {
            letter.is_whitespace()
                || letter.is_ascii() && !letter.is_ascii_alphanumeric()
                || matches!(letter, '\u{2010}'..='\u{2019}' | '\u{201c}'..='\u{2026}' | '\u{3000}'..='\u{3002}' | '«' | '»')
        });
        for word in parts.filter(|word| !word.is_ascii()) {
            let letters: Vec<char> = word.chars().collect();
            if letters.len() > 2 {
                found.words += 1;
                found.odd += usize::from(is_odd(&letters));
            }
            for letter in letters.iter().filter(|letter| !letter.is_ascii()) {
                found.capitals += usize::from(letter.is_uppercase());
                found.small += usize::from(letter.is_lowercase());
            }
        }
        found
    }
}

fn is_odd(word: &[char]) -> bool {
    let is_latin = |letter: &char| letter.is_alphabetic() && *letter < '\u{250}';
    let accented_only = !word.iter().any(char::is_ascii_alphanumeric)
        && word.iter().filter(|letter| is_latin(letter)).count() > 2
        && word.iter().all(|letter| is_latin(letter) || !letter.is_alphabetic());
    let is_sign = |letter: char| {
        matches!(letter, '\u{a1}'..='\u{a9}' | '\u{ab}'..='\u{ac}' | '\u{ae}'..='\u{b4}' | '\u{b6}' | '\u{b8}' | '\u{b9}')
            || matches!(letter, '\u{bb}'..='\u{bf}' | '×' | '÷' | '‚' | '‰' | '‹' | '›' | '€' | '№' | '™' | '\u{2500}'..='\u{25ff}')
    };
    let is_in_other_script = |letter: char| letter.is_alphabetic() && ('\u{370}'..'\u{1e00}').contains(&letter);
    let odd_pair = |pair: &[char]| {
        let (one, other) = (pair[0], pair[1]);
        let changes_case = one.is_lowercase() && other.is_uppercase() && !(one.is_ascii() && other.is_ascii());
        let mixes = |one: char, other: char| one.is_ascii_alphabetic() && is_in_other_script(other);
        changes_case || mixes(one, other) || mixes(other, one)
    };
    let odd_middle = |three: &[char]| {
        let (left, middle, right) = (three[0], three[1], three[2]);
        let within_letters = left.is_alphabetic() && right.is_alphabetic() && is_sign(middle);
        within_letters || left.is_ascii_lowercase() && right.is_ascii_lowercase() && is_east_asian(middle)
    };
    accented_only || word.windows(2).any(odd_pair) || word.windows(3).any(odd_middle)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::contradicting;
    use encoding_rs::Encoding;

    /// What is said of `text` in the encoding `actual` that is declared as `declared`.
    fn check(actual: &str, declared: &str, text: &str, is_found: bool) {
        let bytes = Encoding::for_label(actual.as_bytes()).unwrap().encode(text).0.into_owned();
        let read = Encoding::for_label(declared.as_bytes()).map(|one| one.decode_without_bom_handling(&bytes).0);
        let found = contradicting(&bytes, declared, read.as_deref()).map(|found| found.text);
        assert_eq!(found.as_deref(), is_found.then_some(text), "{actual} as {declared}");
    }

    const SENTENCES: &[(&[&str], &str)] = &[
        (&["windows-1252", "iso-8859-15", "macintosh"], "Größe fünf, die Straße ist naß und über Köln fällt Schnee"),
        (&["windows-1252", "iso-8859-15"], "Déjà vu à l'été: le cœur garde un goût amer, n° 5"),
        (&["windows-1252"], "Überlänge: 5 m², Preis 30 €, «Ähnliches» folgt"),
        (&["windows-1252"], "GRÖSSE UND ÜBERMASS"),
        (&["windows-1250", "iso-8859-2"], "Zażółć gęślą jaźń, proszę o przesłanie dokumentów"),
        (&["windows-1250"], "Příliš žluťoučký kůň úpěl ďábelské ódy"),
        (
            &["windows-1251", "koi8-r", "iso-8859-5", "ibm866"],
            "Оплатите, пожалуйста, счёт до пятницы. Сумма: 4200 рублей.",
        ),
        (&["windows-1251", "koi8-r"], "ВНИМАНИЕ ВСЕМ СОТРУДНИКАМ"),
        (&["windows-1253", "iso-8859-7"], "Η συνάντηση γίνεται την Τρίτη στις δέκα το πρωί"),
        (&["windows-1255"], "הפגישה תתקיים ביום שלישי בשעה עשר"),
        (&["windows-1256"], "الاجتماع يوم الثلاثاء الساعة العاشرة صباحا"),
        (&["windows-874"], "การประชุมจะจัดขึ้นในวันอังคารเวลาสิบโมงเช้า"),
        (&["windows-1254"], "Toplantı salı günü saat onda yapılacak, lütfen gecikmeyin"),
        (&["Shift_JIS", "EUC-JP"], "会議は五月十日の午後三時から大阪支店で行います。資料は前日までに送ってください。"),
        (&["GBK", "gb18030"], "会议将于下周二上午举行，请各位准时参加并提前准备好材料。"),
        (&["Big5"], "會議將於下週二上午舉行，請各位準時參加並提前準備好資料。"),
        (&["EUC-KR"], "회의는 다음 주 화요일 오전에 열립니다. 자료를 미리 준비해 주세요."),
    ];

    #[test]
    fn what_is_declared_rightly_stands() {
        for (labels, text) in SENTENCES {
            for label in *labels {
                check(label, label, text, false);
            }
            check("utf-8", "utf-8", text, false);
        }
        check("koi8-r", "koi8-r", "её", false);
        check("gbk", "gbk", "会议", false);
        check("windows-1252", "iso-8859-1", "naïve café", false);
    }

    #[test]
    fn utf_8_is_found_whatever_is_declared() {
        for (_, text) in SENTENCES {
            for label in ["us-ascii", "iso-8859-1", "windows-1251", "koi8-r", "Shift_JIS", "GBK", "x-unknown"] {
                check("utf-8", label, text, true);
            }
        }
        check("utf-8", "iso-8859-1", "Größe", true);
        check("utf-8", "utf-16", "Größe", true);
    }

    #[test]
    fn letters_in_what_is_said_to_be_ascii_are_detected() {
        for (labels, text) in SENTENCES {
            let label = labels[0];
            if label.eq_ignore_ascii_case("gb18030") {
                continue;
            }
            check(label, "us-ascii", text, true);
            check(label, "x-unknown", text, true);
        }
    }

    #[test]
    fn what_the_declared_encoding_shows_as_nonsense_is_detected() {
        let of = |script: &str| SENTENCES.iter().find(|(labels, _)| labels[0] == script).unwrap().1;
        for (actual, declared) in [
            ("Shift_JIS", "iso-8859-1"),
            ("Shift_JIS", "utf-8"),
            ("Shift_JIS", "EUC-JP"),
            ("Shift_JIS", "iso-2022-jp"),
            ("EUC-JP", "Shift_JIS"),
            ("EUC-JP", "iso-8859-1"),
            ("GBK", "iso-8859-1"),
            ("GBK", "utf-8"),
            ("Big5", "gb2312"),
            ("Big5", "windows-1252"),
            ("EUC-KR", "iso-8859-1"),
            ("EUC-KR", "Shift_JIS"),
            ("koi8-r", "iso-8859-1"),
            ("koi8-r", "windows-1251"),
            ("koi8-r", "utf-8"),
            ("windows-1251", "koi8-r"),
            ("windows-1251", "iso-8859-1"),
            ("windows-1253", "iso-8859-1"),
            ("windows-1255", "iso-8859-1"),
            ("windows-1256", "windows-1252"),
            ("windows-874", "iso-8859-1"),
            ("windows-1252", "koi8-r"),
            ("windows-1252", "utf-8"),
            ("windows-1250", "iso-8859-1"),
        ] {
            let text = match actual {
                "EUC-JP" => of("Shift_JIS"),
                "koi8-r" => of("windows-1251"),
                other => of(other),
            };
            check(actual, declared, text, true);
        }
    }
}
