use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{Clause, after, tidy};
use crate::read::path::unknown_paths;
use crate::view::View;
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted, words};

/// Most words between the name of a file and the colon before its content.
const LEAD: usize = 6;

/// Best first.
pub fn suggest(request: &str, view: &View) -> Option<Suggestion> {
    let lexicon = &lexicon().write;
    let text = plain(request);
    any_phrase(&text, &lexicon.cues)?;
    let (path, span, sure) = target(request, view)?;
    let exists = view.has(&path);
    let append = any_phrase(&text, &lexicon.append).is_some();
    let overwrite = any_phrase(&text, &lexicon.overwrite).is_some();
    let (content, grounded) = content(request, span)?;
    let referred = refers(request, &content).then(|| content.clone());
    // "… list.txt: milk" adds to existing content.
    let noted = request[span.1..].trim_start().starts_with(':');
    let mode = match (append || (noted && exists), overwrite, exists) {
        (true, false, _) => "append",
        (_, _, true) => "overwrite",
        _ => "create",
    };
    let begins = words(request).iter().take(3).any(|word| {
        let known = |list: &[String]| list.contains(&word.lower);
        known(&lexicon.content_start)
            || known(&lexicon.cues)
            || ["create", "make", "overwrite", "replace"].contains(&word.lower.as_str())
    });
    let worth = sure * grounded * if begins { 1.0 } else { 0.7 };
    // What it refers to is known only after earlier steps have run.
    let content = match &referred {
        Some(_) => String::new(),
        None if mode == "append" && !content.ends_with('\n') => format!("{content}\n"),
        None => content,
    };
    let why = match (referred, mode) {
        (Some(referred), _) => format!("writes “{referred}” to {path}"),
        (None, "append") => format!("adds to the end of {path}"),
        (None, "overwrite") => format!("replaces {path}"),
        _ => format!("makes {path}"),
    };
    Some(Suggestion::new(json!({"path": path, "content": content, "mode": mode}), worth, why))
}

/// The target: an existing file, or a name that looks like one.
fn target(request: &str, view: &View) -> Option<(String, (usize, usize), f32)> {
    let quotes = quoted(request);
    let outside =
        |span: &(usize, usize)| !quotes.iter().any(|q| q.start < span.0 && span.1 < q.end && q.text.contains(' '));
    let new = unknown_paths(request, &view.entries).into_iter().rfind(|(_, span)| outside(span));
    // The file named last is the target; the content may speak of others.
    let known = view
        .named(request)
        .into_iter()
        .filter(|found| !found.folder && found.score >= 0.6 && outside(&found.span))
        .max_by(|a, b| a.score.total_cmp(&b.score).then(a.span.0.cmp(&b.span.0)));
    match (new, known) {
        (_, Some(known)) if known.score >= 0.95 => Some((known.path, known.span, 0.96)),
        (Some((path, span)), _) => Some((path, span, 0.95)),
        (None, Some(known)) => Some((known.path, known.span, known.score)),
        _ => None,
    }
}

/// The content, and how sure it is.
fn content(request: &str, path: (usize, usize)) -> Option<(String, f32)> {
    let lexicon = &lexicon().write;
    let quote =
        quoted(request).into_iter().filter(|q| q.end <= path.0 || q.start >= path.1).max_by_key(|q| q.text.len());
    if let Some(quote) = quote {
        return Some((quote.text.to_owned(), 0.98));
    }
    let not_path = |clause: &Clause<'_>| clause.end <= path.0 || clause.start >= path.1;
    let own = |clause: &Clause<'_>| !clause.text.is_empty() && not_path(clause);
    // "… x.txt with the text Y", "… x.txt: Y".
    let behind = &request[path.1..];
    if let Some(rest) = behind.trim_start().strip_prefix(':') {
        let rest = tidy(rest);
        if !rest.is_empty() {
            return Some((rest.to_owned(), 0.95));
        }
    }
    // "… eine Datei x.txt an, in der steht: Y".
    if let Some((lead, rest)) = behind.split_once(": ")
        && lead.split_whitespace().count() <= LEAD
        && !tidy(rest).is_empty()
    {
        return Some((tidy(rest).to_owned(), 0.96));
    }
    if let Some(clause) = after(behind, &lexicon.content, &[]) {
        return Some((strip_leading(clause.text, &lexicon.leading), 0.93));
    }
    // "Write Y to x.txt".
    let front = &request[..path.0];
    let start = after(front, &lexicon.content_start, &lexicon.content_end).filter(own)?;
    let text = strip_leading(start.text, &lexicon.leading);
    (!text.is_empty()).then_some((text, 0.9))
}

/// Whether the content refers to something found elsewhere: `the number of bolts`, `its title`.
fn refers(request: &str, content: &str) -> bool {
    let lower = content.to_lowercase();
    let referring =
        lexicon().write.references.iter().any(|word| lower == *word || lower.starts_with(&format!("{word} ")));
    let said =
        quoted(request).iter().any(|quote| quote.text.contains(content)) || request.contains(&format!(": {content}"));
    referring && !said && content.split_whitespace().count() <= 8
}

fn strip_leading(text: &str, leading: &[String]) -> String {
    let lower = text.to_lowercase();
    let best = leading
        .iter()
        .filter(|lead| lower.strip_prefix(lead.as_str()).is_some_and(|rest| rest.starts_with([' ', ':'])))
        .max_by_key(|lead| lead.len());
    match best.and_then(|lead| text.get(lead.len()..)) {
        Some(rest) => tidy(rest).to_owned(),
        None => tidy(text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::refers;

    #[test]
    fn references_are_no_content() {
        for content in ["the number of screws", "its title", "both sums", "le total", "what it says"] {
            let request = format!("write {content} to x.txt");
            assert!(refers(&request, content), "{content}");
        }
        for content in ["hello", "ready", "a poem about the sea", "them is us and we all are one of many here"] {
            let request = format!("write {content} to x.txt");
            assert!(!refers(&request, content), "{content}");
        }
        assert!(!refers("write 'the end' to x.txt", "the end"));
        assert!(!refers("make a file x.txt that says: the end", "the end"));
    }
}
