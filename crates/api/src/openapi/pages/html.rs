pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// HTML of `text`, with words between backticks as code.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            out.push_str("<code>");
            out.push_str(&escape(part));
            out.push_str("</code>");
        } else {
            out.push_str(&escape(part));
        }
    }
    out
}

pub(super) fn paragraphs(text: &str) -> String {
    text.split("\n\n")
        .filter(|part| !part.trim().is_empty())
        .fold(String::new(), |all, part| all + "<p>" + &prose(part.trim()) + "</p>\n")
}

/// The first clause of a summary, as a headline, and what follows it.
pub(super) fn headline(summary: &str) -> (&str, &str) {
    let end = [". ", "; ", ": "].iter().filter_map(|mark| summary.find(mark)).min().unwrap_or(summary.len());
    let (head, rest) = summary.split_at(end);
    let rest = rest.trim_start_matches(['.', ';', ':']).trim();
    (head.trim_end_matches('.'), rest)
}

/// The JSON pointer `#/components/schemas/Run` as its last part.
pub(super) fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

#[cfg(test)]
mod tests {
    use super::{headline, paragraphs, prose};

    #[test]
    fn a_headline_is_the_first_clause() {
        assert_eq!(headline("Log in"), ("Log in", ""));
        assert_eq!(headline("One agent."), ("One agent", ""));
        assert_eq!(headline("Deletes it; its runs stay. Really."), ("Deletes it", "its runs stay. Really."));
    }

    #[test]
    fn text_can_not_become_markup() {
        assert_eq!(prose("a <b> & `c<d>`"), "a &lt;b&gt; &amp; <code>c&lt;d&gt;</code>");
        assert_eq!(paragraphs("one\n\ntwo"), "<p>one</p>\n<p>two</p>\n");
    }
}
