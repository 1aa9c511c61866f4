//! Reads paths, addresses, numbers, arithmetic and times. Pure functions over text and a listing of the workspace.

pub mod arithmetic;
pub mod clause;
pub mod moment;
pub mod number;
pub mod path;

use steward_core::text::words;

/// A host without a scheme counts if it begins with `www.`, or has a port or one of the common top-level domains.
pub fn urls(request: &str) -> Vec<String> {
    words(request)
        .into_iter()
        .filter_map(|word| {
            let text = word.text.trim_end_matches('/');
            let lower = text.to_lowercase();
            if lower.starts_with("http://") || lower.starts_with("https://") {
                return url::Url::parse(word.text).ok().map(|_| word.text.to_owned());
            }
            let host = text.split('/').next()?;
            let name = host.split(':').next()?;
            let labels: Vec<&str> = name.split('.').collect();
            let top = labels.last()?;
            let hostlike = labels.len() >= 2
                && labels
                    .iter()
                    .all(|label| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
                && (top.chars().all(|c| c.is_ascii_alphabetic()) && top.len() >= 2
                    || labels.len() == 4 && labels.iter().all(|l| l.parse::<u8>().is_ok()));
            let marked = lower.starts_with("www.")
                || host.contains(':')
                || ["com", "org", "net", "io", "dev", "de", "eu", "gov", "edu"].contains(top);
            (hostlike && marked && !text.contains('@')).then(|| format!("https://{text}"))
        })
        .collect()
}

pub fn emails(request: &str) -> Vec<String> {
    words(request)
        .into_iter()
        .filter(|word| {
            word.text.split_once('@').is_some_and(|(user, host)| {
                !user.is_empty() && host.contains('.') && !host.contains('@') && !host.ends_with('.')
            })
        })
        .map(|word| word.text.trim_start_matches("mailto:").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{emails, urls};

    #[test]
    fn finds_addresses() {
        assert_eq!(urls("Fetch http://127.0.0.1:8/a.html, please"), ["http://127.0.0.1:8/a.html"]);
        assert_eq!(urls("open www.example.org/x"), ["https://www.example.org/x"]);
        assert!(urls("read notes/handover.md and data.csv").is_empty());
        assert_eq!(emails("mail ann@example.com."), ["ann@example.com"]);
    }
}
