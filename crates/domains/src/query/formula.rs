//! Formulas over fields of numbers, such as `unit_price * quantity * (1 - discount)`.

use serde_json::{Number, Value};

use super::plan::Calculation;

/// Most calculations of a formula.
const MOST: usize = 20;
/// Levels of brackets in each other.
const MOST_LEVELS: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Formula {
    /// A field, by its path.
    Path(String),
    Number(Number),
    Calculated(Box<Formula>, Calculation, Box<Formula>),
}

/// Reads a formula; `None`: the text is none. The error says what is wrong with it.
pub(super) fn read(text: &str) -> Option<Result<Formula, String>> {
    if !text.contains(['+', '-', '*', '/', '(']) {
        return None;
    }
    let mut reader = Reader { rest: text, calculations: 0, levels: 0 };
    let formula = reader.sum().and_then(|formula| match reader.next() {
        None => Ok(formula),
        Some(rest) => Err(format!("`{rest}` is left over")),
    });
    Some(formula)
}

struct Reader<'t> {
    rest: &'t str,
    calculations: usize,
    levels: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes one of these signs, if it comes next.
    fn take(&mut self, signs: &[(char, Calculation)]) -> Option<Calculation> {
        let next = self.next()?;
        let (sign, calculation) = signs.iter().find(|(sign, _)| *sign == next)?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(*calculation)
    }

    fn sum(&mut self) -> Result<Formula, String> {
        self.chain(&[('+', Calculation::Add), ('-', Calculation::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Formula, String> {
        self.chain(&[('*', Calculation::Multiply), ('/', Calculation::Divide)], Self::part)
    }

    fn chain(
        &mut self,
        signs: &[(char, Calculation)],
        part: fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        let mut all = part(self)?;
        while let Some(calculation) = self.take(signs) {
            self.calculations += 1;
            if self.calculations > MOST {
                return Err(format!("it has more than {MOST} calculations"));
            }
            all = Formula::Calculated(Box::new(all), calculation, Box::new(part(self)?));
        }
        Ok(all)
    }

    fn part(&mut self) -> Result<Formula, String> {
        let Some(next) = self.next() else {
            return Err("it breaks off; a field or a number should follow".to_owned());
        };
        if next == '(' {
            return self.brackets();
        }
        if next == '-' {
            self.rest = &self.rest[1..];
            self.calculations += 1;
            if self.calculations > MOST {
                return Err(format!("it has more than {MOST} calculations"));
            }
            let part = self.part()?;
            return Ok(Formula::Calculated(Box::new(Formula::Number(0.into())), Calculation::Subtract, Box::new(part)));
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("`{next}` can't stand there; use fields, numbers, + - * / and brackets"));
        }
        self.rest = rest;
        if !word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Ok(Formula::Path(word.to_owned()));
        }
        match serde_json::from_str(word) {
            Ok(Value::Number(number)) => Ok(Formula::Number(number)),
            _ => Err(format!("`{word}` is no number")),
        }
    }

    fn brackets(&mut self) -> Result<Formula, String> {
        self.levels += 1;
        if self.levels > MOST_LEVELS {
            return Err(format!("its brackets are nested more than {MOST_LEVELS} levels"));
        }
        self.rest = &self.rest[1..];
        let inside = self.sum()?;
        if self.next() != Some(')') {
            return Err("a bracket is not closed".to_owned());
        }
        self.rest = &self.rest[1..];
        self.levels -= 1;
        Ok(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::{Formula, read};

    fn told(formula: &Formula) -> String {
        match formula {
            Formula::Path(path) => path.clone(),
            Formula::Number(number) => number.to_string(),
            Formula::Calculated(left, calculation, right) => {
                format!("({}{}{})", told(left), calculation.sign(), told(right))
            }
        }
    }

    #[test]
    fn formulas_are_read_as_people_mean_them() {
        for (text, expect) in [
            ("price * quantity", "(price*quantity)"),
            ("a.price*quantity*(1-discount)", "((a.price*quantity)*(1-discount))"),
            ("a - b - c", "((a-b)-c)"),
            ("a + b * c / 2.5", "(a+((b*c)/2.5))"),
            ("-a * 2", "((0-a)*2)"),
            ("(größe)", "größe"),
            ("1e3 * a", "(1000.0*a)"),
        ] {
            let read = read(text).unwrap();
            assert_eq!(read.as_ref().map(told).unwrap_or_default(), expect, "{text}: {read:?}");
        }
        for (text, expect) in [
            ("a *", "breaks off"),
            ("a * * b", "`*` can't stand there"),
            ("(a + b", "not closed"),
            ("a + b)", "left over"),
            ("a; drop table b -- c", "left over"),
            ("a * 'x'", "can't stand there"),
            ("a * 1.2.3", "no number"),
            (&"a + ".repeat(40), "more than 20"),
            (&"(".repeat(1000), "nested more than 10"),
            (&"-".repeat(1000), "more than 20"),
        ] {
            let error = read(text).unwrap().unwrap_err();
            assert!(error.contains(expect), "{text}: {error}");
        }
        assert_eq!(read("price"), None);
        assert_eq!(read(""), None);
    }
}
