//! The commands and programs that README.md and docs/ show: each block is run, or the line before it says why not, as
//! `<!-- not run: the reason -->`. A page's blocks are run one after the other in one shell, beside a server of their own.

use crate::common::{Bench, Server};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use steward_testkit::model_server::{Behaviour, Script};

const MARK: &str = "<!-- not run: ";
const ADMIN: [(&str, &str); 2] =
    [("STEWARD_ADMIN_EMAIL", "ada@example.org"), ("STEWARD_ADMIN_PASSWORD", "a heron stands in the reeds")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Shell,
    Python,
    JavaScript,
}

#[derive(Debug)]
struct Block {
    page: String,
    /// Of its first line of code, from 1.
    line: usize,
    language: Language,
    text: String,
    /// The reason why it isn't run.
    marked: Option<String>,
}

/// What a page's blocks need.
struct Page {
    name: &'static str,
    /// Run before them, in the same shell.
    before: &'static str,
    /// What stands for something in the text, and what is put there.
    replace: &'static [(&'static str, &'static str)],
}

const PAGES: [Page; 20] = [
    Page {
        name: "api.md",
        before: "steward sample add",
        replace: &[
            ("KEY=$(cat ~/.local/share/steward/api-key)", ""),
            ("URL=http://127.0.0.1:8800", ""),
            ("AGENT=…", "AGENT=$AGENT"),
            ("-o stocks.csv", "-o copy.csv"),
            ("$URL/api/runs/$RUN/events", "$URL/api/runs/$(first runs)/events"),
            ("open(\"/home/you/.local/share/steward/api-key\").read()", "os.environ[\"KEY\"]"),
        ],
    },
    Page { name: "audit.md", before: "steward agents add x", replace: &[("1204", "1")] },
    Page {
        name: "backup.md",
        before: "BACKUPS=$(mktemp -d); trap 'rm -rf \"$BACKUPS\"' EXIT; echo 'a heron stands in the reeds' > passphrase.txt",
        replace: &[],
    },
    Page {
        name: "budgets-and-usage.md",
        before: "steward connections add big $MODELS --model scripted",
        replace: &[("3f2a", "$(steward budget | awk 'NR == 1 {print $1}')")],
    },
    Page {
        name: "cli.md",
        before: "echo 'You keep notes.' > clerk.md; echo '{\"budget\": \"query\"}' > change.json; \
                 for name in big small; do steward connections add $name $MODELS --model scripted; done",
        replace: &[],
    },
    Page {
        name: "data.md",
        before: "mkdir measurements; printf 'place,ph\\nnorth,6.1\\n' > measurements/soil.csv; python3 -c \"
import sqlite3
sqlite3.connect('shop.db').executescript('''
create table customer (Id integer primary key, Name text, City text, Country text);
create table invoice (Id integer primary key, CustomerId integer references customer, InvoiceDate date, Total real);
insert into customer values (4, 'Bo', 'Oslo', 'Norway');
insert into invoice values (1, 4, '2024-01-02', 5.5);''')\"",
        replace: &[
            // A model that plans isn't there.
            ("steward ask --agent oos \"Which customers are from Norway?\"", "steward agents show oos"),
            ("steward domain init shop --save", "steward domain init shop --save; steward datasource set shop --writable true"),
            ("7f3a", "$(steward domain changes list --all | awk 'NR == 1 {print $1}')"),
        ],
    },
    Page {
        name: "documents.md",
        before: "cp \"$ROOT/crates/knowledge/tests/data/extract/table.pdf\" handbook.pdf; mkdir contracts; \
                 echo 'The notice period is three months.' > contracts/lease.md; steward group create legal",
        replace: &[("remove handbook.pdf", "remove handbook.pdf -y")],
    },
    Page { name: "gateway.md", before: "", replace: &[] },
    Page {
        name: "getting-started.md",
        before: "",
        replace: &[("open(\"/path/to/data/api-key\").read()", "os.environ[\"KEY\"]")],
    },
    Page { name: "governance.md", before: "", replace: &[] },
    Page {
        name: "groups-and-grants.md",
        before: "for one in ann ben; do steward user invite $one@example.org --role developer; done; \
                 steward agents add reporter; steward group create editors",
        replace: &[
            ("steward group create editors", "steward group remove editors -y; steward group create editors"),
            ("group remove writers", "group remove writers -y"),
        ],
    },
    Page { name: "memory.md", before: "", replace: &[("AGENT", "steward")] },
    Page { name: "schedules.md", before: "steward agents add reporter", replace: &[] },
    Page {
        name: "skills.md",
        before: "python3 -c \"import sqlite3, os; sqlite3.connect('shop.db').executescript(open(os.environ['ROOT'] + '/scripts/prove/shop.sql').read())\"
python3 - <<'END'
import os
text = open(os.environ['ROOT'] + '/docs/skills.md').read()
open('cheap_products.json', 'w').write(text.split('```json')[1].split('```')[0])
END",
        replace: &[],
    },
    Page {
        name: "subscriptions.md",
        before: "echo https://hooks.slack.com/services/T0/B0/x > slack.txt; echo 'https://matrix.example.org/!room:example.org' > room.txt
echo syt_token > token.txt; echo https://example.org/in > address.txt",
        replace: &[(
            "secret remove program 3f2a -y",
            "secret remove program $(steward subscription show program --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"secrets\"][0][\"id\"])') -y",
        )],
    },
    Page { name: "supervision.md", before: "", replace: &[] },
    Page { name: "tenants.md", before: "", replace: &[] },
    Page { name: "tls.md", before: "", replace: &[] },
    Page {
        name: "users.md",
        before: "",
        replace: &[
            ("user remove ann@example.org", "user remove ann@example.org -y"),
            ("{\"email\": \"ann@example.org\"", "{\"email\": \"eve@example.org\""),
        ],
    },
    Page {
        name: "webhooks.md",
        before: "echo 'whsec_ofTheirs0123456789' > stripe.txt; echo '{\"action\": \"opened\", \"issue\": {\"title\": \"x\"}}' > call.json
address() { echo $URL$(steward hook show $1 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"path\"])'); }
export TOKEN=a-heron-stands-in-the-reeds SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
echo $TOKEN | steward hook add with-token --signing token --secret - Hello
echo $SECRET | steward hook add signed --signing standard --secret - Hello
export ADDRESS=$(address signed)",
        replace: &[
            ("ADDRESS=https://steward.example.org/hooks/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11\ncurl -s $ADDRESS", "curl -s $(address with-token)"),
            (
                "ADDRESS, SECRET = \"https://steward.example.org/hooks/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11\", \"whsec_…\"",
                "ADDRESS, SECRET = os.environ[\"ADDRESS\"], os.environ[\"SECRET\"]",
            ),
            (
                "secret remove issues 3f2a -y",
                "secret remove issues $(steward hook show issues --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"secrets\"][0][\"id\"])') -y",
            ),
        ],
    },
];

/// Pages that the gate runs; `make prove` runs all.
const QUICK: [&str; 5] = ["data.md", "groups-and-grants.md", "schedules.md", "subscriptions.md", "webhooks.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The language of a block, by its tag or, without one, by what it looks like; `None`: it is no code. A tag that isn't known is a
/// mistake.
fn language_of(tag: &str, text: &str) -> Result<Option<Language>, String> {
    match tag {
        "sh" | "bash" | "shell" | "console" => Ok(Some(Language::Shell)),
        "python" | "py" => Ok(Some(Language::Python)),
        "js" | "javascript" | "mjs" | "ts" | "typescript" => Ok(Some(Language::JavaScript)),
        "json" | "toml" | "yaml" | "ebnf" | "markdown" | "text" => Ok(None),
        "" => Ok(guessed(text)),
        other => Err(format!("`{other}` is no known language of a block")),
    }
}

fn guessed(text: &str) -> Option<Language> {
    const PROGRAMS: [&str; 16] = [
        "steward",
        "target/quick/steward",
        "curl",
        "make",
        "git",
        "npm",
        "npx",
        "nats",
        "openssl",
        "export",
        "printf",
        "echo",
        "mkdir",
        "cargo",
        "docker",
        "zip",
    ];
    let first = text.split_whitespace().next()?;
    let assigns = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        word.contains('=') && !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    match first {
        "import" | "from" => Some(Language::Python),
        "const" | "let" => Some(Language::JavaScript),
        word if PROGRAMS.contains(&word) || assigns(word) => Some(Language::Shell),
        _ => None,
    }
}

/// The blocks of a page that are code.
fn blocks_of(page: &str, text: &str) -> Result<Vec<Block>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let before = at.checked_sub(1).map_or("", |before| lines[before].trim());
        let marked =
            before.strip_prefix(MARK).and_then(|rest| rest.strip_suffix("-->")).map(|why| why.trim().to_owned());
        let line = lines[at];
        let (tag, begin, end, next) = if let Some(tag) = line.trim_start().strip_prefix("```") {
            let end = (at + 1..lines.len()).find(|&end| lines[end].trim_start().starts_with("```"));
            let end = end.ok_or_else(|| format!("{page}:{}: the block has no end", at + 1))?;
            (tag.trim(), at + 1, end, end + 1)
        } else if line.starts_with("    ") && !line.trim().is_empty() {
            let goes_on = |line: &str| line.starts_with("    ") || line.is_empty();
            let mut end = (at..lines.len()).find(|&end| !goes_on(lines[end])).unwrap_or(lines.len());
            while lines[end - 1].is_empty() {
                end -= 1;
            }
            ("", at, end, end)
        } else {
            at += 1;
            continue;
        };
        let strip = if begin == at { 4 } else { 0 };
        let inside: Vec<&str> = lines[begin..end].iter().map(|line| line.get(strip..).unwrap_or_default()).collect();
        let text = inside.join("\n") + "\n";
        match language_of(tag, &text).map_err(|why| format!("{page}:{}: {why}", at + 1))? {
            Some(language) => blocks.push(Block { page: page.to_owned(), line: begin + 1, language, text, marked }),
            None if marked.is_some() => return Err(format!("{page}:{}: a mark on what is no code", at + 1)),
            None => {}
        }
        at = next;
    }
    Ok(blocks)
}

fn blocks() -> Vec<Block> {
    let mut pages = vec![root().join("README.md")];
    pages.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.sort();
    let read = |page: &PathBuf| {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        blocks_of(&name, &std::fs::read_to_string(page).unwrap()).unwrap()
    };
    pages.iter().flat_map(read).collect()
}

#[test]
fn each_block_of_the_docs_is_run_or_marked() {
    let blocks = blocks();
    let (marked, run): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| block.marked.is_some());
    let homeless = run.iter().filter(|block| !PAGES.iter().any(|page| page.name == block.page));
    let homeless: Vec<String> = homeless.map(|block| format!("{}:{}", block.page, block.line)).collect();
    assert!(
        homeless.is_empty(),
        "run these blocks (PAGES says what a page needs), or write `{MARK}the reason -->` into the line before each: {homeless:#?}"
    );
    let unsaid = marked.iter().find(|block| block.marked.as_ref().is_some_and(|why| why.len() < 15));
    assert!(unsaid.is_none(), "the mark says no reason: {unsaid:?}");
    let idle = PAGES.iter().find(|page| !run.iter().any(|block| block.page == page.name));
    assert!(idle.is_none(), "nothing of {} is run", idle.unwrap().name);
    assert!(blocks.len() > 60 && run.len() > 30, "{} blocks, {} run: the search is broken", blocks.len(), run.len());
    println!("{} blocks: {} run, {} marked", blocks.len(), run.len(), marked.len());
}

/// A line without what is said about it after two blanks; `quote`: the one that is open, from the lines before.
fn command_of(line: &str, quote: &mut Option<char>) -> String {
    let (mut kept, mut blanks) = (String::new(), 0);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if *quote == Some(letter) {
            *quote = None;
        } else if quote.is_none() && (letter == '\'' || letter == '"') {
            *quote = Some(letter);
        }
        blanks = if letter == ' ' && quote.is_none() { blanks + 1 } else { 0 };
        kept.push(letter);
        let said = blanks > 1 && !kept.trim().is_empty();
        if said && letters.peek().is_some_and(|next| next.is_alphabetic()) {
            break;
        }
    }
    kept
}

fn script_of(page: &Page, blocks: &[&Block]) -> String {
    let mut script = String::from(
        "set -euo pipefail\n\
         curl() { command curl --fail-with-body -sS \"$@\"; }\n\
         first() { steward \"$@\" --json | python3 -c 'import json, sys; all = json.load(sys.stdin)\n\
         while not isinstance(all, list): all = next(one for one in all.values() if isinstance(one, list))\n\
         print(all[0][\"id\"])'; }\n\
         export AGENT=$(first agents)\n",
    );
    let replaced = |text: &str| {
        let text = text.replace("http://127.0.0.1:8800", "$URL");
        page.replace.iter().fold(text, |text, (from, to)| text.replace(from, to))
    };
    let _ = writeln!(script, "{}\nset -x", page.before);
    let (mut python, mut quote) =
        (String::from("import os\nURL, KEY = os.environ['URL'], os.environ['KEY']\nSTEWARD_KEY = KEY\n"), None);
    for block in blocks {
        let _ = writeln!(script, ": {}:{}", block.page, block.line);
        match block.language {
            Language::Shell => {
                for line in replaced(&block.text).lines() {
                    let _ = writeln!(script, "{}", command_of(line, &mut quote));
                }
            }
            Language::Python => {
                // A program goes on from the one before it on its page. In a text of it, the address is no variable.
                let text = replaced(&block.text).replace("\"$URL\"", "URL").replace("\"$URL/v1\"", "URL + '/v1'");
                let _ = writeln!(python, "{text}");
                let _ = writeln!(script, "\"$PYTHON\" - <<'END_OF_BLOCK'\n{python}END_OF_BLOCK");
            }
            Language::JavaScript => {
                let _ = writeln!(
                    script,
                    "node --input-type=module - <<'END_OF_BLOCK'\n{}END_OF_BLOCK",
                    replaced(&block.text)
                );
            }
        }
    }
    script
}

fn run_page(name: &str) {
    let blocks = blocks();
    let page = PAGES.iter().find(|page| page.name == name).unwrap();
    let blocks: Vec<&Block> = blocks.iter().filter(|block| block.page == name && block.marked.is_none()).collect();
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start_with(&bench, &ADMIN);
    let call = |path: &str, token: Option<&str>, body| {
        let (status, answer) = server.request(&bench, reqwest::Method::POST, path, token, body);
        assert!(status.is_success(), "{path}: {answer}");
        answer
    };
    let login = json!({"email": ADMIN[0].1, "password": ADMIN[1].1});
    let session = call("/api/auth/login", None, Some(&login));
    let key = call("/api/auth/api-key", session["access_token"].as_str(), None);
    let key = key["api_key"].as_str().unwrap();
    let steward = bench.command(&[]);
    let programs = Path::new(steward.get_program()).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let variables: BTreeMap<_, _> = steward.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &script_of(page, &blocks)])
        .env_clear()
        .envs(variables)
        .env("PATH", path.unwrap())
        .env("STEWARD_API_KEY", key)
        .envs([("KEY", key), ("STEWARD_KEY", key), ("URL", &server.url), ("STEWARD", &server.url)])
        .env("MODELS", bench.model.base_url())
        .env("ROOT", root())
        .env("PYTHON", steward_testkit::set_up("venv-clients/bin/python3"))
        .current_dir(bench.work.path())
        .stdin(Stdio::null());
    let done = shell.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(25)..].join("\n");
    assert!(
        done.status.success(),
        "docs/{name} does not work as it is written:\n{last}\n{}",
        String::from_utf8_lossy(&done.stdout)
    );
}

#[test]
fn the_blocks_of_some_pages_work() {
    for page in QUICK {
        run_page(page);
    }
}

#[test]
fn prove_the_blocks_of_all_pages_work() {
    let others = PAGES.iter().filter(|page| !QUICK.contains(&page.name));
    let mut failed = Vec::new();
    for page in others {
        if let Err(why) = std::panic::catch_unwind(|| run_page(page.name)) {
            failed.push(why.downcast_ref::<String>().cloned().unwrap_or_else(|| page.name.to_owned()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn blocks_are_found_as_they_stand() {
    let text = "text\n\n    steward usage      by day\n\n    steward usage --json\n\nmore\n\n<!-- not run: it needs a server that isn't there -->\n\
                ```sh\nnats x\n```\n```json\n{}\n```\n    {\"no\": \"code\"}\n    KEY=1 steward serve\n```\nimport os\n```\n";
    let found: Vec<_> = blocks_of("x.md", text).unwrap();
    let short: Vec<_> = found.iter().map(|block| (block.line, block.language, block.marked.is_some())).collect();
    assert_eq!(short, [(3, Language::Shell, false), (11, Language::Shell, true), (19, Language::Python, false)]);
    assert_eq!(found[0].text, "steward usage      by day\n\nsteward usage --json\n");
    assert!(blocks_of("x.md", "```cobol\nx\n```\n").unwrap_err().contains("cobol"));
    assert!(blocks_of("x.md", "```sh\nx\n").is_err());
    for (line, expect) in [
        ("steward runs        lists the runs", "steward runs        "),
        ("curl -s $URL/x   -H \"$auth\"", "curl -s $URL/x   -H \"$auth\""),
        ("steward ask \"two  blanks\"   # why", "steward ask \"two  blanks\"   # why"),
        ("echo 'a  b'  c", "echo 'a  b'  "),
    ] {
        assert_eq!(command_of(line, &mut None), expect);
    }
}
