use super::Suggestion;
use crate::lexicon::{WriteWords, lexicon};
use crate::read::clause::{Clause, after, tidy};
use crate::read::path::unknown_paths;
use crate::view::View;
use serde_json::json;
use steward_core::text::{Quoted, Word, any_phrase, has_phrase, plain, quoted, words};

/// Most words between the name of a file and the colon before its content.
const LEAD: usize = 6;

/// Best first.
pub fn suggest(request: &str, view: &View) -> Option<Suggestion> {
    let lexicon = &lexicon().write;
    let text = plain(request);
    any_phrase(&text, &lexicon.cues)?;
    let (path, span, sure) = target(request, view)?;
    let exists = view.has(&path);
    let (content, grounded) = content(request, span)?;
    let told = beside(request, span, &content);
    let append = any_phrase(&told, &lexicon.append).is_some()
        || lexicon.inserts.iter().any(|verb| has_phrase(&told, verb)) && any_phrase(&told, &lexicon.ends).is_some();
    let overwrite = is_about_all(request, span, &told);
    // What a part of a file is to become is no content for the whole of it, or for its end.
    if !overwrite && is_about_a_part(&told, lexicon) {
        return None;
    }
    let referred = refers(request, &content).then(|| content.clone());
    // "… list.txt: milk" adds to existing content.
    let noted = request[span.1..].trim_start().starts_with(':');
    let mode = match (append || (noted && exists), overwrite, exists) {
        (true, false, _) => "append",
        // Nothing is lost that the request doesn't write anew.
        (_, false, true) if any_phrase(&told, &lexicon.keeps).is_none() => return None,
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

/// The words of a request beside its quotations, the name of the file and the content.
fn beside(request: &str, path: (usize, usize), content: &str) -> String {
    let mut spans: Vec<(usize, usize)> = quoted(request).iter().map(|quote| (quote.start, quote.end)).collect();
    spans.push(path);
    spans.extend(request.find(content).map(|at| (at, at + content.len())));
    let is_beside = |word: &Word<'_>| !spans.iter().any(|(start, end)| word.start < *end && word.end > *start);
    let told: Vec<String> = words(request).into_iter().filter(is_beside).map(|word| word.lower).collect();
    told.join(" ").replace('’', "'")
}

/// Whether the whole file is to be replaced: it says so, or the file is what is replaced.
fn is_about_all(request: &str, path: (usize, usize), told: &str) -> bool {
    let lexicon = &lexicon().write;
    let outside = |quote: &Quoted<'_>| quote.end <= path.0 || quote.start >= path.1;
    if quoted(request).into_iter().filter(outside).count() > 1 {
        return false;
    }
    let before: Vec<String> = words(&request[..path.0]).into_iter().map(|word| word.lower).collect();
    let verb = before.iter().rposition(|word| lexicon.replaces.contains(word));
    let is_object = verb.is_some_and(|at| before[at + 1..].iter().all(|word| lexicon.replaced.contains(word)));
    is_object || any_phrase(told, &lexicon.overwrite).is_some()
}

/// Whether a part of a file is to be changed, or something added elsewhere than at its end.
fn is_about_a_part(told: &str, lexicon: &WriteWords) -> bool {
    let spaced = format!(" {told} ");
    let is_verb = |verb: &String| {
        spaced.match_indices(&format!(" {verb} ")).any(|(at, _)| {
            let before = spaced[..at].rsplit(' ').next().unwrap_or_default();
            !lexicon.nouns.iter().any(|noun| noun == before)
        })
    };
    let inserts = lexicon.inserts.iter().any(is_verb) && any_phrase(told, &lexicon.ends).is_none();
    inserts || lexicon.edits.iter().any(is_verb) || any_phrase(told, &lexicon.places).is_some()
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
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{refers, suggest};
    use crate::view::View;

    /// What is proposed for a workspace with `probe.txt` and `notes.md`.
    fn proposed(request: &str) -> Option<(String, String)> {
        let found = suggest(request, &View::of_files(&["probe.txt", "notes.md"]))?;
        let of = |name: &str| found.arguments[name].as_str().unwrap().to_owned();
        Some((of("mode"), of("content")))
    }

    #[test]
    fn a_change_of_a_part_replaces_no_file() {
        for request in [
            "Replace 'two' with 'zwei' in probe.txt",
            "Replace two with zwei in probe.txt",
            "In probe.txt replace two with zwei",
            "Please replace 'two' by 'zwei' at the end of probe.txt",
            "Replace in probe.txt 'two' with 'zwei'",
            "Overwrite 'two' with 'zwei' in probe.txt",
            "Change 'two' to 'zwei' in the file probe.txt and save it",
            "Put 'zwei' instead of 'two' in probe.txt",
            "Correct 'tow' to 'two' in probe.txt, then save",
            "Correct probe.txt: two",
            "Insert 'half' after line 1 of probe.txt",
            "Add 'half' after line 1 in probe.txt",
            "Write 'half' at the beginning of probe.txt",
            "Delete the line 'two' in probe.txt and write it",
            "Remove 'two' from probe.txt and save the file",
            "Rename 'two' to 'zwei' in probe.txt and store it",
            "Ersetze 'two' durch 'zwei' in probe.txt",
            "Ersetze in der Datei probe.txt two durch zwei",
            "Ändere 'two' in der Datei probe.txt zu 'zwei'",
            "Korrigiere 'tow' in der Datei probe.txt in 'two'",
            "Lösche die Zeile 'two' aus der Datei probe.txt",
            "Entferne 'two' aus der Datei probe.txt",
            "Füge 'half' nach Zeile 1 in probe.txt ein",
            "Kannst du in der Datei probe.txt 'two' durch 'zwei' ersetzen",
            "Benenne 'two' in der Datei probe.txt in 'zwei' um",
            "Schreibe 'zwei' statt 'two' in probe.txt",
            "Remplace 'two' par 'zwei' dans probe.txt",
            "Reemplaza 'two' por 'zwei' en el archivo probe.txt",
            "Make a file probe.txt that says zwei",
        ] {
            assert_eq!(proposed(request), None, "{request}");
        }
    }

    #[test]
    fn what_is_written_or_added_is_proposed() {
        for (request, mode, content) in [
            ("Append 'three' to probe.txt", "append", "three\n"),
            ("Append 'replace the filter' to notes.md", "append", "replace the filter\n"),
            ("Add to notes.md: change the oil", "append", "change the oil\n"),
            ("Insert a last line in notes.md saying soup", "append", "soup\n"),
            ("Hänge 'ändere das Öl' an notes.md an", "append", "ändere das Öl\n"),
            ("Write 'three' to probe.txt", "overwrite", "three"),
            ("Write 'fix the roof' to todo.txt", "create", "fix the roof"),
            ("Create a file todo.txt with the text remove the lamp", "create", "remove the lamp"),
            ("Overwrite probe.txt with 'three'", "overwrite", "three"),
            ("Replace probe.txt with 'three'", "overwrite", "three"),
            ("Replace the contents of probe.txt with 'three'", "overwrite", "three"),
            ("Ersetze den Inhalt von probe.txt durch 'drei'", "overwrite", "drei"),
            ("Schreibe 'drei' in die Datei probe.txt", "overwrite", "drei"),
        ] {
            let expect = Some((mode.to_owned(), content.to_owned()));
            assert_eq!(proposed(request), expect, "{request}");
        }
    }

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
