//! Mailboxes (mbox): mails one after the other, each behind a line that begins with `From `.

use std::borrow::Cow;

const MARK: &[u8] = b"From ";

/// The mails without the lines between them. Sentences that begin with `From` have a mark before them, which is taken off;
/// where a program has left it out, they begin no mail, as no field of a head follows.
pub(super) fn mails(mailbox: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut mails = Vec::new();
    let (mut begin, mut at, mut is_after_gap) = (None, 0, true);
    while at < mailbox.len() {
        let end = end_of_line(mailbox, at);
        let line = &mailbox[at..end];
        if is_after_gap && line.starts_with(MARK) && begins_field(&mailbox[end..]) {
            mails.extend(begin.map(|begin| unmarked(&mailbox[begin..at])));
            begin = Some(end);
        }
        is_after_gap = line.trim_ascii().is_empty();
        at = end;
    }
    mails.extend(begin.map(|begin| unmarked(&mailbox[begin..])));
    mails
}

fn end_of_line(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |found| at + found + 1)
}

/// Whether a head begins here: `Subject: …`, or the marked line that some programs write first.
fn begins_field(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
    name > 0 && text.get(name) == Some(&b':') || text.starts_with(b">From ")
}

/// `>From` and `>>From` at the beginning of a line as they were before.
fn unmarked(mail: &[u8]) -> Cow<'_, [u8]> {
    let is_marked = |line: &[u8]| {
        let marks = line.iter().take_while(|byte| **byte == b'>').count();
        marks > 0 && line[marks..].starts_with(MARK)
    };
    if !mail.split(|byte| *byte == b'\n').any(is_marked) {
        return Cow::Borrowed(mail);
    }
    let lines = mail.split_inclusive(|byte| *byte == b'\n');
    Cow::Owned(lines.flat_map(|line| if is_marked(line) { &line[1..] } else { line }).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::mails;

    #[test]
    fn mails_are_told_apart() {
        let text = b"From a@x Tue Mar  5 10:00:00 2024\r\nSubject: one\r\nFrom: a@x\r\n\r\nHello\r\n>From here\r\n>>From there\r\n\r\n\
            From now on we meet at nine.\r\n\r\nFrom b@x Wed\r\nSubject: two\r\n\r\nBye\r\n";
        let found = mails(text);
        assert_eq!(
            String::from_utf8_lossy(&found[0]),
            "Subject: one\r\nFrom: a@x\r\n\r\nHello\r\nFrom here\r\n>From there\r\n\r\nFrom now on we meet at nine.\r\n\r\n"
        );
        assert_eq!((found.len(), &*found[1]), (2, &b"Subject: two\r\n\r\nBye\r\n"[..]));
        assert!(mails(b"").is_empty());
    }
}
