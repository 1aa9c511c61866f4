//! A request cut where one wish may end and another begin.

use super::lexicon::Lexicon;
use super::token::{Kind, Token, tokens};

/// Most pieces of one request.
const MOST: usize = 24;

/// A piece of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// As it stands there.
    pub text: String,
    /// Begins after the end of a sentence or a word that leads to something new (`then`, `also`);
    /// else after a comma or `and`, which may as well join the members of a list.
    pub apart: bool,
    /// Begins with a word that counts wishes or puts them in order: `first`, `then`, `also`.
    pub counted: bool,
}

/// The pieces of a request, in order. Quotations and brackets are not cut.
pub fn parts(text: &str) -> Vec<Part> {
    let words = Lexicon::get();
    let text = text.trim().trim_matches('"');
    let tokens = tokens(text, words);
    let inside = enclosed(&tokens);
    let mut out: Vec<Part> = Vec::new();
    let mut from = 0;
    let mut apart = true;
    let mut led = false;
    let mut at = 0;
    while at < tokens.len() {
        let cut = if inside[at] || out.len() + 1 >= MOST { None } else { cut(&tokens, at, words) };
        match cut {
            Some((next, new)) => {
                push(&mut out, text, &tokens[from..at], apart, led);
                // What leads to an empty piece counts for the next one.
                apart = new || (apart && from == at);
                led = tokens[at..next].iter().any(|t| counts(&t.lower));
                from = next;
                at = next.max(at + 1);
            }
            None => at += 1,
        }
    }
    push(&mut out, text, &tokens[from.min(tokens.len())..], apart, led);
    out
}

fn counts(word: &str) -> bool {
    matches!(
        word,
        "first"
            | "firstly"
            | "second"
            | "secondly"
            | "third"
            | "thirdly"
            | "fourth"
            | "then"
            | "next"
            | "also"
            | "after"
            | "finally"
            | "lastly"
            | "furthermore"
            | "additionally"
            | "moreover"
            | "followed"
    )
}

fn push(out: &mut Vec<Part>, text: &str, tokens: &[Token], apart: bool, led: bool) {
    if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
        out.push(Part {
            text: text[first.from..last.to].to_owned(),
            apart,
            counted: led
                || (apart
                    && (counts(&first.lower)
                        || (matches!(first.lower.as_str(), "could" | "can" | "and" | "i")
                            && tokens.iter().take(4).any(|t| t.is("also"))))),
        });
    }
}

/// Whether each token stands in brackets or quotation marks.
fn enclosed(tokens: &[Token]) -> Vec<bool> {
    let mut depth = 0_usize;
    let mut quoted: Option<&str> = None;
    tokens
        .iter()
        .enumerate()
        .map(|(at, token)| {
            if token.kind == Kind::Mark {
                match token.text.as_str() {
                    "[" | "(" | "{" => depth += 1,
                    "]" | ")" | "}" => depth = depth.saturating_sub(1),
                    mark @ ("'" | "\"" | "“" | "”") => {
                        quoted = match quoted {
                            Some("'") if mark == "'" => None,
                            Some("\"") if mark == "\"" => None,
                            Some("“") if mark == "”" => None,
                            None if mark != "”"
                                && tokens[at + 1..]
                                    .iter()
                                    .any(|t| t.text == if mark == "“" { "”" } else { mark }) =>
                            {
                                Some(match mark {
                                    "'" => "'",
                                    "\"" => "\"",
                                    _ => "“",
                                })
                            }
                            other => other,
                        };
                    }
                    _ => {}
                }
            }
            depth > 0 || quoted.is_some()
        })
        .collect()
}

/// A cut at `at`: the token where the next piece begins, and whether it is surely a new one.
fn cut(tokens: &[Token], at: usize, words: &Lexicon) -> Option<(usize, bool)> {
    let token = &tokens[at];
    let next = tokens.get(at + 1)?;
    let is = |at: usize, list: &[&str]| tokens.get(at).is_some_and(|t| list.contains(&t.lower.as_str()));
    if token.kind == Kind::Mark {
        return match token.text.as_str() {
            "." | "?" | "!" | "\n" if next.first => Some((at + 1, true)),
            ";" => Some((at + 1, true)),
            "," if is(at + 1, &["and", "then", "&"]) => {
                let (begin, new) = skip(tokens, at + 1, words);
                Some((begin, new))
            }
            "," => Some((at + 1, false)),
            _ => None,
        };
    }
    if token.is("and") || token.is("then") || token.is("while") {
        let (begin, new) = skip(tokens, at, words);
        return (begin < tokens.len()).then_some((begin, new));
    }
    None
}

/// The token after joining words, and whether they or what follows begin something new.
fn skip(tokens: &[Token], at: usize, words: &Lexicon) -> (usize, bool) {
    let mut next = at;
    let mut new = false;
    while let Some(token) = tokens.get(next) {
        match token.lower.as_str() {
            "and" | "&" | "," | "while" => {}
            "then" | "also" | "finally" | "lastly" | "additionally" | "next" | "afterwards" => {
                new = true;
            }
            _ => break,
        }
        next += 1;
    }
    let asks = tokens.get(next).is_some_and(|t| {
        words.verbs.contains(&t.lower)
            || matches!(
                t.lower.as_str(),
                "what" | "how" | "who" | "when" | "where" | "which" | "can" | "could" | "i" | "please"
            )
    });
    (next, new || asks)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn wishes_are_cut_apart() {
        let cut = |text: &str| -> Vec<String> {
            parts(text).into_iter().map(|part| format!("{}{}", if part.apart { "" } else { "~" }, part.text)).collect()
        };
        assert_eq!(
            cut("Read a.md and then list the files. Also, find 'x and y', please"),
            ["Read a.md", "list the files", "Also", "~find 'x and y'", "~please"]
        );
        assert_eq!(cut("The weather in Oslo, and calculate 2 (3, 4)"), ["The weather in Oslo", "calculate 2 (3, 4)"]);
        assert!(cut("").is_empty());
    }
}
