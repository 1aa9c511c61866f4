//! Encodings by the numbers that Windows gives them.

use encoding_rs::Encoding;

/// `None` if it isn't known.
pub(super) fn encoding_of_code_page(page: u32) -> Option<&'static Encoding> {
    let label = match page {
        866 => "ibm866".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10_000 => "macintosh".to_owned(),
        10_007 => "x-mac-cyrillic".to_owned(),
        20_866 => "koi8-r".to_owned(),
        21_866 => "koi8-u".to_owned(),
        50_220..=50_222 => "iso-2022-jp".to_owned(),
        51_932 => "euc-jp".to_owned(),
        54_936 => "gb18030".to_owned(),
        65_001 => "utf-8".to_owned(),
        page @ 28_591..=28_605 => format!("iso-8859-{}", page - 28_590),
        page => format!("windows-{page}"),
    };
    Encoding::for_label(label.as_bytes())
}
