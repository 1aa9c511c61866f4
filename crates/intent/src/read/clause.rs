//! Parts of a sentence after a cue: "called X", "with the text Y", "to Z".

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause<'a> {
    /// The words after the cue, trimmed and without quotation marks around them.
    pub text: &'a str,
    /// First byte of the cue.
    pub cue_start: usize,
    /// First byte after the cue.
    pub start: usize,
    /// Byte after the clause.
    pub end: usize,
}

/// The text after the first occurrence of one of `cues` (the longest that fits at the earliest position), up to the
/// first of `stops` or the end. Cues and stops match at word boundaries, whatever the case; those inside quotation
/// marks don't count.
pub fn after<'a>(request: &'a str, cues: &[String], stops: &[String]) -> Option<Clause<'a>> {
    let quotes = steward_core::text::quoted(request);
    let inside = |at: usize| quotes.iter().any(|q| at > q.start && at < q.end);
    let (cue_start, start) = earliest(request, cues, 0, &inside)?;
    let end = earliest(request, stops, start, &inside).map_or(request.len(), |(at, _)| at);
    let text = tidy(&request[start..end]);
    (!text.is_empty()).then_some(Clause { text, cue_start, start, end })
}

/// The earliest cue from `from` on: its first byte and the byte after it.
fn earliest(request: &str, cues: &[String], from: usize, inside: &impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    cues.iter()
        .filter_map(|cue| {
            let at = find(request, cue, from, inside)?;
            Some((at, at + cue.len()))
        })
        .min_by_key(|(at, end)| (*at, usize::MAX - end))
}

fn find(request: &str, cue: &str, from: usize, inside: &impl Fn(usize) -> bool) -> Option<usize> {
    let wordy = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let starts_wordy = wordy(cue.chars().next());
    let ends_wordy = wordy(cue.chars().next_back());
    request.char_indices().map(|(at, _)| at).filter(|at| *at >= from).find(|&at| {
        request.get(at..at + cue.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(cue))
            && !inside(at)
            && (!starts_wordy || !wordy(request[..at].chars().next_back()))
            && (!ends_wordy || !wordy(request[at + cue.len()..].chars().next()))
    })
}

/// Trims white space, a leading colon or comma, one pair of quotation marks, and the full stop of the sentence.
pub fn tidy(text: &str) -> &str {
    let text = text.trim().trim_start_matches([':', ',', '-', '–']).trim();
    if let Some(first) = steward_core::text::quoted(text).first()
        && first.start == 0
        && text[first.end..].chars().all(|c| ".,;!?".contains(c) || c.is_whitespace())
    {
        return first.text.trim();
    }
    let text = text.trim_end_matches([',', ';', ':']).trim();
    match text.strip_suffix('.') {
        // "v1.2." loses its stop; "etc..." and "a.b.c." keep theirs.
        Some(rest) if !rest.ends_with('.') => rest.trim_end(),
        _ => text,
    }
}

/// `request` without the bytes of `span`; the gap is closed.
pub fn without(request: &str, span: (usize, usize)) -> String {
    let (left, right) = (&request[..span.0], &request[span.1..]);
    format!("{} {}", left.trim_end(), right.trim_start()).trim().to_owned()
}

/// What remains of `text` after the longest of `leads` is cut from its beginning for as long as there is one.
pub fn without_leads<'a>(text: &'a str, leads: &(impl Iterator<Item = &'a String> + Clone)) -> &'a str {
    let mut rest = text.trim();
    loop {
        let lower = rest.to_lowercase();
        let begins = |lead: &&String| {
            let tail = lower.strip_prefix(lead.as_str());
            tail.is_some_and(|tail| lead.ends_with('\'') || !tail.starts_with(char::is_alphanumeric))
        };
        let lead = leads.clone().filter(begins).max_by_key(|lead| lead.len());
        let Some(cut) = lead.and_then(|lead| rest.get(lead.len()..)) else {
            return rest;
        };
        rest = cut.trim_start_matches([' ', ',', ':', '.']);
    }
}

#[cfg(test)]
mod tests {
    use super::{after, tidy};

    #[test]
    fn clauses() {
        let list = |items: &[&str]| items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let request = "Create a note called shopping with the text milk and bread.";
        let title = after(request, &list(&["called", "named"]), &list(&["with", "with the text"])).unwrap();
        assert_eq!(title.text, "shopping");
        assert_eq!(after(request, &list(&["with the text"]), &[]).unwrap().text, "milk and bread");
        assert_eq!(tidy(": 'a b'."), "a b");
        assert!(after("a miscalled thing", &list(&["called"]), &[]).is_none());
    }
}
