//! Text in an encoding that nobody declares: what its bytes look like.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

const LOOKED_AT: usize = 64 << 10;
/// What a text is called that is UTF-8 but for a few bytes.
pub const BROKEN_UTF_8: &str = "UTF-8, in which some bytes are broken";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub text: String,
    /// The name of the encoding.
    pub encoding: &'static str,
    /// The same, if the file doesn't say it and it is not UTF-8.
    pub guessed: Option<&'static str>,
}

impl Decoded {
    /// In an encoding that is known.
    pub(super) fn known(text: String, encoding: &'static str) -> Self {
        Self { text, encoding, guessed: None }
    }

    pub(super) fn guessed(text: String, encoding: &'static str) -> Self {
        Self { text, encoding, guessed: Some(encoding) }
    }
}

/// Text in an encoding that nobody declares.
pub(super) fn likeliest(bytes: &[u8]) -> Option<Decoded> {
    if Utf8Share::of(bytes).is_mostly() {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return is_unicode_text(&text).then(|| Decoded::guessed(text, BROKEN_UTF_8));
    }
    let likely = unmarked_utf_16(bytes).unwrap_or_else(|| detect(bytes));
    [likely, WINDOWS_1252].into_iter().find_map(|encoding| {
        let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
        is_text(&text).then(|| Decoded::guessed(text, encoding.name()))
    })
}

/// How much of a text is UTF-8.
#[derive(Debug, Default)]
pub(super) struct Utf8Share {
    /// Beyond ASCII.
    pub letters: usize,
    /// Those of three bytes and more.
    pub long: usize,
    pub broken: usize,
    /// The last letter is cut, and nothing else is broken.
    is_cut: bool,
}

impl Utf8Share {
    pub fn of(bytes: &[u8]) -> Self {
        let mut share = Self::default();
        for chunk in bytes.utf8_chunks() {
            for letter in chunk.valid().chars().filter(|letter| !letter.is_ascii()) {
                share.letters += 1;
                share.long += usize::from(letter.len_utf8() > 2);
            }
            share.broken += usize::from(!chunk.invalid().is_empty());
        }
        share.is_cut = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        share
    }

    /// Whether a few bytes only are none.
    pub fn is_mostly(&self) -> bool {
        self.letters > 0 && self.is_cut || self.letters > 3 && self.letters >= self.broken * 4
    }
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Of Western texts nearly every second byte is zero.
fn unmarked_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let some = &bytes[..bytes.len().min(LOOKED_AT) & !1];
    let zeros = |odd: usize| some.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), some.len() / 2);
    if pairs > 0 && odd * 10 > pairs * 7 && even * 20 < pairs {
        Some(UTF_16LE)
    } else if pairs > 0 && even * 10 > pairs * 7 && odd * 20 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Control characters are rare in texts; formatting of terminals is the exception.
pub(super) fn is_text(text: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for letter in text.chars().take(LOOKED_AT) {
        all += 1;
        let known = matches!(letter, '\t' | '\n' | '\r' | '\x0c' | '\x08' | '\x1b');
        odd += usize::from(letter.is_control() && !known || letter == '\u{fffd}');
        if letter == '\0' {
            odd += 20;
        }
    }
    odd * 50 <= all
}

/// Bytes that are no text are hardly ever valid Unicode, so a few control characters mean nothing; many, or zeros, do.
pub(super) fn is_unicode_text(text: &str) -> bool {
    const FEW: usize = 4;
    let (mut all, mut odd) = (0_usize, 0_usize);
    for letter in text.chars().take(LOOKED_AT) {
        all += 1;
        odd += match letter {
            '\0' => 21,
            // Ends of lines, of files and of records among them.
            '\t'..='\r' | '\x08' | '\x1a'..='\x1f' | '\u{80}'..='\u{9f}' => 0,
            letter => usize::from(letter.is_control() || letter == '\u{fffd}'),
        };
    }
    odd * 50 <= all || odd <= FEW && odd * 3 <= all
}
