//! Tags in text that is no XML: values are raw and may hold anything but their own closing.

use crate::work::find;

/// What stands between `open` and the next `close`, and what follows; the value goes on to the end
/// where there is no closing (`closed` is false then).
pub(super) struct Between<'a> {
    pub head: &'a str,
    pub value: &'a str,
    pub rest: &'a str,
    pub closed: bool,
}

/// The next element `open HEAD gt VALUE close` in `text`. A closing only counts where `follows`
/// holds for what comes after it, so that a value may quote it.
pub(super) fn element<'a>(
    text: &'a str,
    (open, gt, close): (&str, &str, &str),
    follows: impl Fn(&str) -> bool,
) -> Option<Between<'a>> {
    let at = find(text, open)? + open.len();
    let end = find(&text[at..], gt)? + at;
    let head = &text[at..end];
    let body = &text[end + gt.len()..];
    let mut from = 0;
    while let Some(step) = find(&body[from..], close) {
        let stop = from + step;
        let rest = &body[stop + close.len()..];
        if follows(rest) {
            let value = &body[..stop];
            return Some(Between { head, value, rest, closed: true });
        }
        from = stop + close.len();
    }
    Some(Between { head, value: body, rest: "", closed: false })
}

/// Without one line break at either end, as templates put them there.
pub(super) fn value(text: &str) -> &str {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

/// Whether `text` is blank up to one of `starts` or the end.
pub(super) fn then(text: &str, starts: &[&str]) -> bool {
    let text = text.trim_start();
    text.is_empty() || starts.iter().any(|start| text.starts_with(start))
}
