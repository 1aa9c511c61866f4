#![allow(clippy::unwrap_used, reason = "tests")]

use super::Task::{
    self, Chat, Classify, CodeGen, Extract, Planning, RagAnswer, Reasoning, Summarize, ToolCall, Translate,
};
use super::{DATA, classified, classify, order};
use crate::routing::lexicon::Sheet;

const CASES: &[(Task, &str)] = &[
    // The table's own words.
    (Reasoning, "Think about whether we should move"),
    (Reasoning, "Analyse the drop in March"),
    (Reasoning, "Why is the sky blue?"),
    (Reasoning, "Explain how vaccines work"),
    (CodeGen, "Write code that sorts a list"),
    (CodeGen, "Debug this for me"),
    (CodeGen, "a function that adds two numbers"),
    (CodeGen, "I need a script for the backup"),
    (RagAnswer, "Search for the travel policy"),
    (RagAnswer, "Find in documents who signed it"),
    (RagAnswer, "What does the doc say about refunds?"),
    (Summarize, "Summarize the meeting"),
    (Summarize, "TLDR please"),
    (Summarize, "Give me a brief of the news"),
    (Classify, "Classify this ticket"),
    (Classify, "Categorize these expenses"),
    (Classify, "Label each review"),
    (Extract, "Extract the dates"),
    (Extract, "Parse this line"),
    (Extract, "Pull out all names"),
    (Translate, "Translate to German: good morning"),
    (Translate, "Good morning in Arabic"),
    (Translate, "Bonne nuit en français"),
    (ToolCall, "Run the backup"),
    (ToolCall, "Execute it now"),
    (ToolCall, "SSH into web-3"),
    (Planning, "Plan my week"),
    (Planning, "Steps to open a bank account"),
    (Planning, "How to bake bread"),
    (Chat, "Hello, how are you?"),
    (Chat, "Thanks, that was lovely"),
    (Chat, ""),
    (Chat, "🙂"),
    // Inflections.
    (Reasoning, "He explained nothing; compare both offers"),
    (Reasoning, "an analysis of the causes"),
    (CodeGen, "refactoring the parser module, any unit tests?"),
    (Summarize, "a summary, condensed"),
    (Summarize, "Can you sum this up"),
    (Classify, "categorising mails"),
    (Classify, "which category does this belong to?"),
    (Extract, "parsing the log, extracting errors"),
    (Extract, "pull the totals out of this mail"),
    (Translate, "the translation of this letter"),
    (ToolCall, "it was executed twice, restart the server"),
    (Planning, "planning a trip"),
    // The more specific of several.
    (Translate, "Translate this text into French and explain nothing"),
    (Translate, "How to say thank you in Japanese"),
    (Translate, "Translate \"why do we plan?\" to Spanish"),
    (Summarize, "Summarize this document in German"),
    (Summarize, "Summarise the plan"),
    (CodeGen, "Why does this function fail?"),
    (CodeGen, "Write a Python function that parses dates"),
    (ToolCall, "Run the script backup.sh"),
    (ToolCall, "Create a file called notes.txt"),
    (ToolCall, "Send an email to Ada"),
    (RagAnswer, "According to the employee handbook, how long is parental leave?"),
    (Extract, "Extract all invoice numbers from this document as JSON"),
    // What only looks so.
    (Chat, "My zip code is 12345"),
    (Chat, "In the long run we are all dead"),
    (Chat, "We ran out; they run out of milk"),
    (Chat, "a planet, a runner, a searchlight and a codex"),
    // German.
    (Reasoning, "Warum ist der Himmel blau?"),
    (Reasoning, "Erkläre mir die Relativitätstheorie"),
    (CodeGen, "Schreib eine Funktion, die Primzahlen findet"),
    (RagAnswer, "Was steht in den Unterlagen zum Urlaub?"),
    (RagAnswer, "Durchsuche das Handbuch nach Garantie"),
    (Summarize, "Fasse bitte diesen Text zusammen"),
    (Summarize, "Eine Zusammenfassung, bitte"),
    (Classify, "Ordne diese Belege den Konten zu"),
    (Classify, "Klassifiziere die Mails"),
    (Extract, "Extrahiere alle Namen"),
    (Extract, "Zieh die Beträge heraus"),
    (Translate, "Übersetze das ins Englische"),
    (Translate, "Guten Tag auf Arabisch"),
    (ToolCall, "Führe das Backup aus"),
    (ToolCall, "Installiere nginx"),
    (Planning, "Plane eine Reise nach Rom"),
    (Chat, "Guten Morgen, wie geht es dir?"),
    // French.
    (Reasoning, "Pourquoi le ciel est-il bleu ?"),
    (Reasoning, "Explique-moi la photosynthèse"),
    (CodeGen, "Écris une fonction qui trie une liste"),
    (RagAnswer, "Recherche la politique de voyage"),
    (RagAnswer, "Que dit le document sur les congés ?"),
    (Summarize, "Résume ce texte"),
    (Classify, "Catégorise ces dépenses"),
    (Extract, "Extrais les dates"),
    (Translate, "Traduis cette phrase"),
    (ToolCall, "Exécute la sauvegarde"),
    (Planning, "Planifie mes vacances"),
    (Chat, "Bonjour, comment ça va ?"),
    // Spanish.
    (Reasoning, "¿Por qué el cielo es azul?"),
    (CodeGen, "Escribe una función que ordene una lista"),
    (RagAnswer, "Busca la política de viajes"),
    (Summarize, "Resume este texto"),
    (Classify, "Clasifica estos correos"),
    (Extract, "Extrae las fechas"),
    (Translate, "Traduce esta frase al inglés"),
    (ToolCall, "Ejecuta la copia de seguridad"),
    (Planning, "Pasos para abrir una cuenta"),
    (Chat, "Hola, ¿cómo estás?"),
    // Arabic.
    (Reasoning, "لماذا السماء زرقاء؟"),
    (Reasoning, "اشرح لي النظرية النسبية"),
    (CodeGen, "اكتب كود لترتيب قائمة"),
    (RagAnswer, "ابحث عن سياسة السفر"),
    (Summarize, "لخّص هذا النص"),
    (Summarize, "ولخص الاجتماع"),
    (Classify, "صنف هذه الرسائل"),
    (Extract, "استخرج التواريخ"),
    (Translate, "ترجم هذه الجملة"),
    (ToolCall, "نفذ النسخ الاحتياطي"),
    (Planning, "أريد خطة للسفر"),
    (Chat, "مرحبا، كيف حالك؟"),
];

#[test]
fn each_message_gets_its_kind() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter(|(task, message)| classify(message) != *task)
        .map(|(task, message)| {
            let got = classified(message);
            format!("{message:?} is {task:?}, not {:?} by {:?}", got.task, got.words)
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(CASES.len() >= 80);
}

#[test]
fn what_follows_the_request_does_not_outvote_it() {
    let material = "We plan to run the script and search the code; why? Think. ".repeat(20);
    let message = format!(
        "Please summarize the following mail for me, in a friendly tone, and keep the names, since I know \
         all of the people in it well:\n{material}"
    );
    assert_eq!(classify(&message), Task::Summarize);
}

#[test]
fn the_words_that_decided_are_told() {
    let found = classified("Could you DEBUG this python script?");
    assert_eq!(found.task, Task::CodeGen);
    assert_eq!(found.words, ["debug", "python", "script"]);
    assert!(classified("Good evening").words.is_empty());
}

#[test]
fn case_and_marks_make_no_difference() {
    for message in ["summarize it", "SUMMARIZE IT", "…summarize—it?!", "\"summarize\"\tit"] {
        assert_eq!(classify(message), Task::Summarize, "{message}");
    }
}

#[test]
fn the_file_is_whole() {
    let sheet: Sheet = serde_json::from_str(DATA).unwrap();
    let order = order(&sheet);
    assert_eq!(order.len(), Task::ALL.len());
    for task in Task::ALL {
        assert!(order.contains(task), "{task:?} is not in the order");
    }
    assert_eq!(sheet.problems(), Vec::<String>::new());
}
