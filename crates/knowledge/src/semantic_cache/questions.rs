//! Whether two questions that are near in meaning ask the same.
//!
//! They do if the words that count are the same, apart from their endings and, as far as none is a name, their order; if
//! numbers, signs and what is quoted are the same; and if words such as `before` and `to` stand before the same words.

use crate::index::{Stems, fold};
use std::collections::HashSet;
use std::sync::LazyLock;

/// What ends a sentence, or stands around words.
const PLAIN: &str = ".,;:!?'\"()[]…„“”‚‘’«»‹›–—-";
const QUOTES: &str = "\"„“”«»";
/// What stays of a word after an apostrophe, and says nothing.
const SHORTENED: [&str; 6] = ["s", "re", "ll", "m", "ve", "d"];

#[derive(Default)]
struct Words {
    without: HashSet<String>,
    bound: HashSet<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words::default();
    for line in include_str!("../../data/question_words.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split_whitespace().skip(1);
        let list = if parts.next() == Some("bound") { &mut words.bound } else { &mut words.without };
        list.extend(parts.map(fold));
    }
    words
});

/// A word that counts, with those that are bound to it.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    bound: String,
    word: String,
    stems: Vec<String>,
}

impl Counted {
    fn is(&self, other: &Self) -> bool {
        self.bound == other.bound
            && (self.word == other.word || self.stems.iter().any(|stem| other.stems.contains(stem)))
    }
}

#[derive(Debug, Default)]
struct Question {
    counted: Vec<Counted>,
    /// Numbers and names, in order.
    names: Vec<String>,
    quoted: Vec<String>,
}

/// Both are taken as they were typed.
pub fn asks_the_same(one: &str, other: &str) -> bool {
    let stems = Stems::of_text(&format!("{one} {other}"));
    let (one, other) = (read(one, &stems), read(other, &stems));
    if one.names != other.names || one.quoted != other.quoted || one.counted.len() != other.counted.len() {
        return false;
    }
    let mut left: Vec<&Counted> = other.counted.iter().collect();
    one.counted.iter().all(|word| {
        let found = left.iter().position(|candidate| candidate.is(word));
        found.map(|at| left.swap_remove(at)).is_some()
    })
}

fn read(text: &str, stems: &Stems) -> Question {
    let mut question = Question { quoted: quoted(text), ..Question::default() };
    let mut bound = String::new();
    let mut rest = text;
    let mut first = true;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let end = end_of_word(rest);
        if end == 0 {
            let after = rest[c.len_utf8()..].chars().next().unwrap_or(' ');
            let minus = c == '-' && !before.is_alphanumeric() && (after.is_alphanumeric() || after == '-');
            if minus || (!c.is_whitespace() && !PLAIN.contains(c)) {
                question.counted.push(Counted { bound: String::new(), word: c.to_string(), stems: Vec::new() });
            }
            before = c;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = &rest[..end];
        rest = &rest[end..];
        let lower = fold(&word.to_lowercase());
        let shortened = matches!(before, '\'' | '’') && !first && SHORTENED.contains(&lower.as_str());
        before = 'a';
        if shortened {
            continue;
        }
        let capital = is_capital(word, first);
        first = false;
        if !capital && WORDS.without.contains(&lower) {
            continue;
        }
        if !capital && WORDS.bound.contains(&lower) {
            bound.push_str(&lower);
            bound.push(' ');
            continue;
        }
        if capital || lower.contains(|c: char| c.is_numeric()) {
            question.names.push(lower.clone());
        }
        let stems = stems.each(&word.to_lowercase()).iter().map(|stem| fold(stem)).collect();
        question.counted.push(Counted { bound: std::mem::take(&mut bound), word: lower, stems });
    }
    if !bound.is_empty() {
        question.counted.push(Counted { bound, word: String::new(), stems: Vec::new() });
    }
    question
}

/// Whether it is written like a name: with a capital letter within a sentence, or with several. `I` is none.
fn is_capital(word: &str, first: bool) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    word != "I" && (capitals > 1 || (capitals == 1 && !first))
}

/// Letters, digits, `_`, and what stands between digits.
fn end_of_word(text: &str) -> usize {
    let mut end = 0;
    let mut digit = false;
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() || c == '_' || crate::index::is_word(c) {
            end = at + c.len_utf8();
            digit = c.is_numeric();
        } else if !(digit && end == at && matches!(c, '.' | ',' | ':')) {
            break;
        }
    }
    end
}

fn quoted(text: &str) -> Vec<String> {
    let parts = text.split(|c| QUOTES.contains(c)).skip(1).step_by(2);
    parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::{WORDS, asks_the_same};

    fn check(one: &str, other: &str, same: bool) {
        assert_eq!(asks_the_same(one, other), same, "{one} / {other}");
        assert_eq!(asks_the_same(other, one), same, "{other} / {one}");
    }

    #[test]
    fn words_that_say_nothing_and_endings_make_no_difference() {
        check("how do I reset my password", "How can I reset my password?", true);
        check("When does the warranty of the pump expire?", "when does the pump's warranty expire", true);
        check("Wie hoch ist die Vertragsstrafe?", "wie hoch ist eigentlich die Vertragsstrafe", true);
        check("Where are backups stored?", "Where do we store backups?", true);
        check("What is C++?", "what's C++", true);
    }

    #[test]
    fn what_may_change_the_answer_does() {
        check("What is the port of service A?", "What is the port of service B?", false);
        check("What is the port of service a?", "What is the port of service b?", false);
        check("Which files may be deleted?", "Which files may not be deleted?", false);
        check("Why does it start?", "Why doesn't it start?", false);
        check("price in version 3.1", "price in version 31", false);
        check("is -5 allowed", "is 5 allowed", false);
        check("x > 5", "x < 5", false);
        check("What is C?", "What is C++?", false);
        check("What is C#?", "What is C++?", false);
        check("the flag --force", "the flag --no-force", false);
        check("from Berlin to Hamburg", "from Hamburg to Berlin", false);
        check("convert euros to dollars", "convert dollars to euros", false);
        check("Anna pays Peter", "Peter pays Anna", false);
        check("before the outage", "after the outage", false);
        check("find \"the who\" there", "find \"a who\" there", false);
        check("price in the US", "price in us", false);
        check("Wer haftet für Schäden?", "Wer haftet nicht für Schäden?", false);
        // Languages without a list are held to the same words.
        check("Combien coûte le billet ?", "Combien coûte un billet ?", false);
        check("東京の天気", "京都の天気", false);
    }

    #[test]
    fn anything_can_be_compared() {
        for text in ["", "  ", "?", "…", "\"", "'s", "-", "--", "1.", "of the", "\u{301}", "🙂", "a\0b"] {
            check(text, text, true);
        }
        check("", "x", false);
    }

    #[test]
    fn no_word_is_in_both_lists() {
        let both: Vec<_> = WORDS.without.intersection(&WORDS.bound).collect();
        assert!(both.is_empty() && WORDS.without.len() > 80 && WORDS.bound.len() > 40, "{both:?}");
    }
}
