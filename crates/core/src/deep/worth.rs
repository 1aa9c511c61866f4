use super::WORDS;
use crate::receipts::wants_tools;

/// The part of a request that is examined, characters.
const LOOKED_AT: usize = 4000;

/// Whether a request asks for several things in a row, so that a plan is worth a model call. What a model can
/// answer by itself is no such request, however long it is.
pub fn is_multi_step(request: &str) -> bool {
    let head: String = request.chars().take(LOOKED_AT).collect();
    let items: Vec<&str> = head.lines().filter_map(|line| item(line.trim_start())).collect();
    let acts = items.iter().filter(|item| wants_tools(item)).count();
    if acts >= 2 {
        return true;
    }
    if !wants_tools(request) {
        return false;
    }
    if items.len() >= 2 {
        return true;
    }
    let text = head.to_lowercase();
    let words = format!(
        " {} ",
        text.split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    );
    let has = |list: &[String]| list.iter().any(|phrase| words.contains(&format!(" {phrase} ")));
    // Such a word connects clauses only at the beginning of one: "for next week" connects nothing.
    let clauses: Vec<Vec<&str>> = text
        .split([',', '.', ';', ':', '!', '?', '،', '\n'])
        .map(|clause| clause.split_whitespace().collect())
        .collect();
    let begins = |word: &String| {
        clauses.iter().skip(1).any(|clause| clause.first() == Some(&word.as_str()))
            || WORDS.and.iter().any(|and| words.contains(&format!(" {and} {word} ")))
    };
    let long = words.split_whitespace().count() >= 6;
    (long && (has(&WORDS.connectors) || WORDS.openings.iter().any(begins)))
        || sentences(&text) >= 3
        || has(&WORDS.together)
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (rest.len() < line.len()).then(|| rest.strip_prefix(['.', ')'])).flatten();
    numbered.or_else(|| WORDS.bullets.iter().find_map(|mark| line.strip_prefix(mark.as_str()))).map(str::trim)
}

/// Sentences of at least three words.
fn sentences(text: &str) -> usize {
    text.split(['.', '!', '?', ';', '\n', '؟', '。']).filter(|part| part.split_whitespace().count() >= 3).count()
}

#[cfg(test)]
mod tests {
    use super::is_multi_step;

    #[test]
    fn several_things_are_told_from_one() {
        for text in [
            "Read notes.txt and then write a summary to out.txt",
            "First look at the disk usage, then delete the old logs",
            "Lies die Datei notes.txt und schreibe danach eine Zusammenfassung",
            "Lis le fichier puis envoie un résumé à Anna",
            "1. list the files\n2. count the lines\n3. write a report",
            "- check the service\n- restart it",
            "Compare the numbers of both files. Write the larger one down. Tell me when that is finished.",
        ] {
            assert!(is_multi_step(text), "{text}");
        }
        for text in [
            "What is in notes.txt?",
            "Hello!",
            "How much is 17 times 4?",
            "Show me the largest file",
            "Who was then king?",
            "",
        ] {
            assert!(!is_multi_step(text), "{text}");
        }
    }
}
