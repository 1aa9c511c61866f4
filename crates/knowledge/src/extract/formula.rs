//! Formulas of office programs (OMML) and of pages (`MathML`) in one line: `(a+b)/2`, `√16`, `2¹⁰`, `∑_(i=1)^n i`.

use super::error::Result;
use super::rich_text::Script;
use super::xml::{Node, Xml};
use std::collections::HashMap;

/// Most parts within each other; deeper ones are written one after the other.
const DEPTH: usize = 60;
/// Attributes that say how something is written.
const ATTRIBUTES: &[&str] = &["val", "open", "close", "separators", "linethickness"];

#[derive(Debug, Default)]
struct Part {
    name: String,
    text: String,
    attributes: HashMap<&'static str, String>,
    parts: Vec<Part>,
}

/// A formula that is being read, in either language.
#[derive(Debug)]
pub(super) struct Formula {
    /// The parts that are open, from the whole on.
    open: Vec<Part>,
    /// Parts that are open and too deep.
    beyond: usize,
}

impl Default for Formula {
    fn default() -> Self {
        Self { open: vec![Part::default()], beyond: 0 }
    }
}

/// The formula of the element that was opened last (`oMath`, `math`), up to its end.
pub(super) fn read(xml: &mut Xml<'_>) -> Result<String> {
    let (mut formula, mut open) = (Formula::default(), 1_usize);
    while open > 0 {
        match xml.next()? {
            // What was deleted.
            Some(Node::Open(element)) if matches!(element.name(), "del" | "moveFrom" | "delText") => xml.skip()?,
            Some(Node::Open(element)) => {
                open += 1;
                formula.open(element.name(), |name| element.attribute(name));
            }
            Some(Node::Close(name)) => {
                open -= 1;
                formula.close(&name);
            }
            Some(Node::Text(text)) => formula.add(&text),
            None => break,
        }
    }
    Ok(formula.write())
}

impl Formula {
    pub fn open(&mut self, name: &str, attribute: impl Fn(&str) -> Option<String>) {
        if self.open.len() > DEPTH {
            self.beyond += 1;
            return;
        }
        let attributes = ATTRIBUTES.iter().filter_map(|name| Some((*name, attribute(name)?))).collect();
        self.open.push(Part { name: name.to_owned(), attributes, ..Part::default() });
    }

    pub fn add(&mut self, text: &str) {
        let is_beyond = self.beyond > 0;
        let Some(part) = self.open.last_mut() else { return };
        if is_beyond {
            part.parts.push(Part { name: "t".to_owned(), text: text.to_owned(), ..Part::default() });
        } else {
            part.text.push_str(text);
        }
    }

    /// Ends a part, and those within it that have no end.
    pub fn close(&mut self, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if let Some(at) = self.open.iter().skip(1).rposition(|part| part.name == name) {
            self.end_parts(at + 1);
        }
    }

    /// Ends the parts that are open from `first` on.
    fn end_parts(&mut self, first: usize) {
        while self.open.len() > first
            && let Some(part) = self.open.pop()
            && let Some(above) = self.open.last_mut()
        {
            above.parts.push(part);
        }
    }

    /// The whole, in one line.
    pub fn write(mut self) -> String {
        self.end_parts(1);
        self.open.first().map(Part::write_inner).unwrap_or_default().trim().to_owned()
    }
}

impl Part {
    fn child(&self, name: &str) -> String {
        self.parts.iter().find(|part| part.name == name).map(Self::write_inner).unwrap_or_default()
    }

    fn nth(&self, at: usize) -> String {
        self.parts.get(at).map(Self::write).unwrap_or_default()
    }

    /// A property as OMML has it: `<fPr><type val="lin"/></fPr>`.
    fn property(&self, name: &str) -> Option<&str> {
        let properties = self.parts.iter().filter(|part| part.name.ends_with("Pr"));
        let found = properties.flat_map(|part| &part.parts).find(|part| part.name == name)?;
        Some(found.attributes.get("val").map_or("", String::as_str))
    }

    fn attribute<'a>(&'a self, name: &str, usual: &'a str) -> &'a str {
        self.attributes.get(name).map_or(usual, String::as_str)
    }

    fn write_inner(&self) -> String {
        let mut all = String::new();
        let mut before: Option<&Self> = None;
        for part in &self.parts {
            let written = part.write();
            if written.is_empty() {
                continue;
            }
            let joins = all.ends_with(is_letter) && written.starts_with(|letter| is_letter(letter) || letter == '√');
            if joins && before.is_some_and(|before| before.is_apart() || part.is_apart()) {
                all.push(' ');
            }
            all.push_str(&written);
            before = Some(part);
        }
        all
    }

    /// Whether letters beside it would be taken for a part of it.
    fn is_apart(&self) -> bool {
        match self.name.as_str() {
            "f" | "mfrac" | "func" | "nary" | "mtext" | "munderover" | "munder" | "limLow" => true,
            "mi" => self.text.trim().chars().count() > 1,
            _ => false,
        }
    }

    fn write(&self) -> String {
        match self.name.as_str() {
            "t" => self.text.clone(),
            "mi" | "mn" | "mo" | "mtext" | "ms" => {
                let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
                // Signs that nobody sees.
                text.replace(|letter| matches!(letter, '\u{2061}'..='\u{2064}'), "")
            }
            "annotation" | "annotation-xml" | "mphantom" => String::new(),
            "phant" if matches!(self.property("show"), Some("0" | "off" | "false")) => String::new(),
            "f" => {
                let (above, below) = (self.child("num"), self.child("den"));
                write_fraction(&above, &below, self.property("type") != Some("noBar"))
            }
            "mfrac" => {
                let has_bar = !self.attribute("linethickness", "").trim_start().starts_with('0');
                write_fraction(&self.nth(0), &self.nth(1), has_bar)
            }
            "rad" => write_root(&self.child("deg"), &self.child("e")),
            "msqrt" => write_root("", &self.write_inner()),
            "mroot" => write_root(&self.nth(1), &self.nth(0)),
            "sSup" | "sSub" | "sSubSup" => write_scripts(&self.child("e"), &self.child("sub"), &self.child("sup")),
            "sPre" => format!("{} {}", write_scripts("", &self.child("sub"), &self.child("sup")), self.child("e")),
            "msup" => write_scripts(&self.nth(0), "", &self.nth(1)),
            "msub" | "munder" => write_scripts(&self.nth(0), &self.nth(1), ""),
            "msubsup" | "munderover" => write_scripts(&self.nth(0), &self.nth(1), &self.nth(2)),
            "mover" => write_accent(&self.nth(0), &self.nth(1)),
            "limLow" => write_scripts(&self.child("e"), &self.child("lim"), ""),
            "limUpp" => write_scripts(&self.child("e"), "", &self.child("lim")),
            "acc" => write_accent(&self.child("e"), self.property("chr").unwrap_or("\u{302}")),
            "bar" => write_accent(&self.child("e"), "\u{305}"),
            "nary" => {
                let sign = self.property("chr").unwrap_or("∫");
                let scripts = write_scripts(sign, &self.child("sub"), &self.child("sup"));
                format!("{scripts} {}", self.child("e"))
            }
            "func" => {
                let (name, of) = (self.child("fName"), self.child("e"));
                let gap = if of.starts_with('(') { "" } else { " " };
                format!("{name}{gap}{of}")
            }
            "d" => {
                let inner: Vec<String> = self.named("e").map(Self::write_inner).collect();
                let (begin, end) = (self.property("begChr").unwrap_or("("), self.property("endChr").unwrap_or(")"));
                format!("{begin}{}{end}", inner.join(self.property("sepChr").unwrap_or("|")))
            }
            "mfenced" => {
                let inner: Vec<String> = self.parts.iter().map(Self::write).collect();
                let between = self.attribute("separators", ",").trim().chars().next().map(String::from);
                let inner = inner.join(&between.unwrap_or_default());
                format!("{}{inner}{}", self.attribute("open", "("), self.attribute("close", ")"))
            }
            "m" => write_matrix(self.named("mr").map(|row| row.named("e").map(Self::write_inner).collect())),
            "mtable" => write_matrix(self.parts.iter().map(|row| row.parts.iter().map(Self::write).collect())),
            "eqArr" => self.named("e").map(Self::write_inner).collect::<Vec<_>>().join("; "),
            "mspace" => " ".to_owned(),
            _ => self.write_inner(),
        }
    }

    fn named(&self, name: &'static str) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter(move |part| part.name == name)
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric()
}

fn write_fraction(above: &str, below: &str, has_bar: bool) -> String {
    if !has_bar {
        return format!("{above} over {below}");
    }
    format!("{}/{}", bracket(above), bracket(below))
}

fn write_root(degree: &str, of: &str) -> String {
    let sign = match degree {
        "" | "2" => "√".to_owned(),
        "3" => "∛".to_owned(),
        "4" => "∜".to_owned(),
        degree => Script::Raised.to_unicode(degree).map_or_else(|| format!("root {degree} of "), |degree| degree + "√"),
    };
    format!("{sign}{}", bracket(of))
}

fn write_scripts(base: &str, below: &str, above: &str) -> String {
    let mut all = bracket(base);
    if !below.is_empty() {
        match Script::Lowered.to_unicode(below) {
            Some(shown) => all.push_str(&shown),
            None => all.extend(["_", &bracket(below)]),
        }
    }
    if !above.is_empty() {
        // Primes, stars and degrees are no powers.
        let is_mark = !above.chars().any(|letter| is_letter(letter) || "+-−=/(∞".contains(letter));
        match Script::Raised.to_unicode(above) {
            Some(shown) => all.push_str(&shown),
            None if is_mark => all.push_str(above),
            None => all.extend(["^", &bracket(above)]),
        }
    }
    all
}

fn write_accent(base: &str, sign: &str) -> String {
    let mark = match sign {
        "¯" | "‾" | "―" | "_" | "\u{305}" | "\u{304}" => "\u{305}",
        "^" | "ˆ" | "\u{302}" => "\u{302}",
        "~" | "˜" | "\u{303}" => "\u{303}",
        "→" | "⃗" => "\u{20d7}",
        "." | "˙" | "\u{307}" => "\u{307}",
        "¨" | "\u{308}" => "\u{308}",
        "" => "",
        sign if sign.chars().count() == 1 && !sign.chars().all(is_letter) => sign,
        above => return write_scripts(base, "", above),
    };
    format!("{base}{mark}")
}

fn write_matrix(rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<String> = rows.map(|cells| cells.join(", ")).collect();
    format!("[{}]", rows.join("; "))
}

/// In brackets, unless it is one number, one name, or in brackets already.
fn bracket(text: &str) -> String {
    let text = text.trim();
    let is_number = text.chars().all(|letter| letter.is_numeric() || matches!(letter, '.' | ','));
    let is_name = text.chars().enumerate().all(|(at, letter)| {
        letter.is_alphabetic()
            || at > 0 && (letter.is_numeric() && !letter.is_ascii_digit() || "_′″°%".contains(letter))
    });
    let has_letters = text.chars().any(is_letter);
    if !has_letters || is_number || is_name || is_bracketed(text) { text.to_owned() } else { format!("({text})") }
}

/// Whether the bracket that it begins with is closed at its end.
fn is_bracketed(text: &str) -> bool {
    let mut open = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return at > 0 && at + letter.len_utf8() == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::limits::{Budget, ExtractLimits};
    use super::super::xml::Xml;
    use super::read;

    #[track_caller]
    fn check(formula: &str, expected: &str) {
        let text = format!("<math>{formula}</math>");
        let limits = ExtractLimits::default();
        let budget = Budget::new(&limits);
        let mut xml = Xml::new(&text, "test", &budget);
        xml.next_open().unwrap();
        assert_eq!(read(&mut xml).unwrap(), expected, "{formula}");
    }

    #[test]
    fn office_formulas_keep_their_structure() {
        let run = |text: &str| format!("<r><rPr><sty val='p'/></rPr><t>{text}</t></r>");
        let part = |name: &str, inner: &str| format!("<{name}>{inner}</{name}>");
        let power = |base: &str, power: &str| part("sSup", &(part("e", &run(base)) + &part("sup", &run(power))));
        let fraction = |above: &str, below: &str| part("f", &(part("num", &run(above)) + &part("den", &run(below))));
        check(&(run("r=") + &fraction("12", "5")), "r=12/5");
        check(&fraction("a+b", "2c"), "(a+b)/(2c)");
        check(&(fraction("1", "2") + &run("x")), "1/2 x");
        check(
            &(part("rad", &("<deg/>".to_owned() + &part("e", &run("16")))) + &run("+") + &power("2", "10")),
            "√16+2¹⁰",
        );
        check(&part("rad", &(part("deg", &run("3")) + &part("e", &run("x+1")))), "∛(x+1)");
        check(&power("x+1", "k+1"), "(x+1)^(k+1)");
        check(&part("sSub", &(part("e", &run("x")) + &part("sub", &run("i")))), "x_i");
        let sum = format!(
            "<nary><naryPr><chr val='∑'/></naryPr>{}{}{}</nary>",
            part("sub", &run("i=1")),
            part("sup", &run("n")),
            part("e", &power("i", "2"))
        );
        check(&sum, "∑_(i=1)ⁿ i²");
        check(&part("d", &("<dPr><begChr val='['/><endChr val=']'/></dPr>".to_owned() + &part("e", &run("a")))), "[a]");
        check(&part("func", &(part("fName", &run("sin")) + &part("e", &run("x")))), "sin x");
        let row = |cells: &[&str]| part("mr", &cells.iter().map(|cell| part("e", &run(cell))).collect::<String>());
        check(&part("m", &(row(&["1", "2"]) + &row(&["3", "4"]))), "[1, 2; 3, 4]");
        check(&("<del>".to_owned() + &run("old") + "</del>" + &run("new")), "new");
    }

    #[test]
    fn formulas_of_pages_keep_their_structure() {
        check("<mfrac><mn>7</mn><mn>8</mn></mfrac>", "7/8");
        check("<msup><mn>2</mn><mn>9</mn></msup>", "2⁹");
        check(
            "<semantics><mrow><mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><mrow><msup><mi>b</mi><mn>2</mn></msup><mo>−</mo><mn>4</mn>\
             <mo>\u{2062}</mo><mi>a</mi></mrow></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac></mrow><annotation>x = …</annotation></semantics>",
            "x=(−b±√(b²−4a))/(2a)",
        );
        check("<msup><mi>f</mi><mo>′</mo></msup>", "f′");
        check("<mi>sin</mi><mo>\u{2061}</mo><mi>x</mi>", "sin x");
        check("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u{305}");
        check(
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "∑_(i=1)ⁿ i",
        );
        check("<mfenced open='[' close=']' separators=';'><mi>a</mi><mi>b</mi></mfenced>", "[a;b]");
        check("<mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><msup><mo>)</mo><mn>2</mn></msup>", "(a+b)²");
        check("<mtable><mtr><mtd><mn>1</mn></mtd></mtr><mtr><mtd><mn>2</mn></mtd></mtr></mtable>", "[1; 2]");
        check(&("<mrow>".repeat(90) + "<mn>1</mn>" + &"</mrow>".repeat(90)), "1");
    }
}
