//! Possible arguments in a request, and a schema that allows only these, so that a small model can't invent any.

use super::{Word, digits, quoted, words};
use serde_json::{Map, Number, Value, json};

/// Most candidates: a grammar of more slows the model down and misleads it.
const MOST: usize = 60;
/// Most words of a sequence.
const LONGEST: usize = 3;
/// Longest text that may be an argument as a whole, bytes.
const WHOLE: usize = 400;
/// Longest lower-case word that joins others, letters: prepositions, articles and conjunctions of most languages.
const SMALL: usize = 4;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spans {
    /// Each once: quotations, addresses and dates, names, what follows a small word, words, sequences, the whole text.
    pub texts: Vec<String>,
    /// Numbers without their units, each once.
    pub numbers: Vec<Number>,
}

impl Spans {
    pub fn of(text: &str) -> Self {
        let all = words(text);
        let quotes = quoted(text);
        let mut found = Self::default();
        for quote in &quotes {
            found.text(quote.text);
        }
        let marked =
            |word: &&Word<'_>| word.text.contains(|c: char| c.is_ascii_digit() || "@/\\_".contains(c) || c == '.');
        all.iter().filter(marked).for_each(|word| found.text(word.text));
        for run in runs(text, &all) {
            found.names(text, run);
        }
        for run in runs(text, &all) {
            found.clauses(text, run);
        }
        all.iter().filter(|word| !is_small(word)).for_each(|word| found.text(word.text));
        for word in &all {
            found.number(word.text);
        }
        for run in runs(text, &all) {
            for len in (2..=LONGEST.min(run.len())).rev() {
                let ends = |two: &&[Word<'_>]| !is_small(&two[0]) && !is_small(&two[len - 1]);
                run.windows(len).filter(ends).for_each(|some| found.text(between(text, some)));
            }
        }
        let short = |word: &&Word<'_>| is_small(word) && word.text.chars().count() > 2;
        all.iter().filter(short).for_each(|word| found.text(word.text));
        found.texts.truncate(MOST - 1);
        if text.len() <= WHOLE {
            found.text(text);
        }
        found
    }

    fn text(&mut self, piece: &str) {
        let piece = piece.trim();
        if !piece.is_empty() && !self.texts.iter().any(|known| known == piece) {
            self.texts.push(piece.to_owned());
        }
    }

    /// `20`, `$3.50`, and `20` of `20kg`, whose unit is a text of its own.
    fn number(&mut self, word: &str) {
        let unit =
            word.find(|c: char| c.is_alphabetic()).filter(|at| *at > 0 && word[*at..].chars().all(char::is_alphabetic));
        let (number, unit) = unit.map_or((word, ""), |at| word.split_at(at));
        let Some(plain) = digits(number) else { return };
        if let Ok(number) = serde_json::from_str::<Number>(&plain)
            && !self.numbers.contains(&number)
        {
            self.numbers.push(number);
        }
        self.text(&plain);
        self.text(unit);
    }

    /// Capitalised words in a row and the numbers after them: `December 2`; a sentence's first word only with another.
    fn names(&mut self, text: &str, run: &[Word<'_>]) {
        let capital = |word: &Word<'_>| word.text.starts_with(char::is_uppercase);
        let mut from = 0;
        while from < run.len() {
            let behind = run[from..]
                .iter()
                .take_while(|word| capital(word) || word.text.starts_with(|c: char| c.is_ascii_digit()));
            let len = behind.count();
            if len > 0 && capital(&run[from]) {
                self.text(between(text, &run[from..from + len]));
                if from == 0 && len > 1 {
                    self.text(between(text, &run[1..len]));
                }
            }
            from += len.max(1);
        }
    }

    /// What follows a small word: up to the next one, and all of it.
    fn clauses(&mut self, text: &str, run: &[Word<'_>]) {
        for at in (0..run.len()).filter(|at| is_small(&run[*at])) {
            let rest = &run[at + 1..];
            let short = rest.iter().take_while(|word| !is_small(word)).count();
            for len in [short, rest.len()] {
                if len > 0 && !rest.first().is_some_and(is_small) {
                    self.text(between(text, &rest[..len]));
                }
            }
        }
    }
}

fn is_small(word: &Word<'_>) -> bool {
    word.text.chars().count() <= SMALL && word.text.chars().all(|c| c.is_lowercase() || c == '\'')
}

fn between<'t>(text: &'t str, some: &[Word<'_>]) -> &'t str {
    match some {
        [] => "",
        [first, .., last] => &text[first.start..last.end],
        [only] => &text[only.start..only.end],
    }
}

/// Words separated by nothing but space.
fn runs<'w, 'a>(text: &str, all: &'w [Word<'a>]) -> Vec<&'w [Word<'a>]> {
    all.chunk_by(|one, next| text[one.end..next.start].chars().all(char::is_whitespace)).collect()
}

/// The schema with free texts and numbers limited to what was said; optional fields that nothing said fits are dropped.
pub fn constrained(schema: &Value, said: &Spans) -> Value {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let mut schema = schema.clone();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let kept: Map<String, Value> = properties
            .iter()
            .filter_map(|(name, property)| {
                let narrow = narrowed(property, said);
                let value = narrow.or_else(|| required(name).then(|| property.clone()))?;
                Some((name.clone(), value))
            })
            .collect();
        schema["properties"] = Value::Object(kept);
    }
    schema
}

/// `None` if nothing said fits.
fn narrowed(schema: &Value, said: &Spans) -> Option<Value> {
    if ["enum", "const", "anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| schema.get(key).is_some()) {
        return Some(schema.clone());
    }
    let choices: Vec<Value> = match schema["type"].as_str() {
        Some("object") => return Some(constrained(schema, said)),
        Some("array") => {
            let items = schema.get("items").map_or(Some(json!({})), |items| narrowed(items, said))?;
            let mut schema = schema.clone();
            schema["items"] = items;
            return Some(schema);
        }
        Some("string") => said.texts.iter().map(|text| json!(text)).collect(),
        Some("number" | "integer") => said.numbers.iter().map(|number| json!(number)).collect(),
        _ => return Some(schema.clone()),
    };
    let validator = crate::schema::compiled(schema).ok()?;
    let fitting: Vec<Value> = choices.into_iter().filter(|choice| validator.is_valid(choice)).collect();
    let mut narrow = json!({"enum": fitting});
    if let Some(about) = schema.get("description") {
        narrow["description"] = about.clone();
    }
    (!fitting.is_empty()).then_some(narrow)
}

#[cfg(test)]
mod tests {
    use super::{MOST, Spans, constrained};
    use serde_json::json;

    #[test]
    fn what_is_said_is_found() {
        for (request, texts, numbers) in [
            ("Forecast for New York for the next 5 days", vec!["New York", "5 days", "5"], vec![json!(5)]),
            ("Send 'good morning' to ann@example.com", vec!["good morning", "ann@example.com"], vec![]),
            (
                "ship 20kg from Berlin to Paris on 2026-12-02",
                vec!["Berlin", "Paris", "kg", "2026-12-02"],
                vec![json!(20)],
            ),
            ("Zähle die Wörter in notes/a.md, bitte", vec!["notes/a.md"], vec![]),
            ("look up the cheapest flight", vec!["cheapest flight"], vec![]),
            ("paint it blue", vec!["blue"], vec![]),
        ] {
            let found = Spans::of(request);
            for text in texts {
                assert!(found.texts.iter().any(|known| known == text), "{request}: {text} not in {:?}", found.texts);
            }
            assert_eq!(json!(found.numbers), json!(numbers), "{request}");
        }
        let long = "one two three four five six seven eight nine ten ".repeat(40);
        assert!(Spans::of(&long).texts.len() <= MOST);
        assert_eq!(Spans::of(""), Spans::default());
    }

    #[test]
    fn a_schema_allows_only_what_is_said() {
        let said = Spans::of("Book 2 seats to Rome");
        let schema = json!({"type": "object", "required": ["city", "code"], "properties": {
            "city": {"type": "string", "description": "Where to"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "class": {"type": "string", "enum": ["first", "second"]},
            "seats": {"type": "integer", "minimum": 1},
            "price": {"type": "number", "minimum": 100},
            "stops": {"type": "array", "items": {"type": "string", "maxLength": 4}},
            "flexible": {"type": "boolean"},
        }});
        let narrow = constrained(&schema, &said);
        let properties = &narrow["properties"];
        assert!(properties["city"]["enum"].as_array().unwrap().contains(&json!("Rome")));
        assert_eq!(properties["city"]["description"], "Where to");
        assert_eq!(properties["code"], schema["properties"]["code"], "required, and nothing said fits");
        assert_eq!(properties["class"], schema["properties"]["class"]);
        assert_eq!(properties["seats"]["enum"], json!([2]));
        assert_eq!(properties.get("price"), None);
        let stops = properties["stops"]["items"]["enum"].as_array().unwrap();
        assert!(stops.contains(&json!("Rome")) && !stops.contains(&json!("seats")), "{stops:?}");
        assert_eq!(properties["flexible"], json!({"type": "boolean"}));
    }
}
