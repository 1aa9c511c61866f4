use crate::fakes::Bench;
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;

#[tokio::test]
async fn programs_compute_in_either_form() {
    let bench = Bench::new();
    for (arguments, expect) in [
        (json!({"code": "import statistics\nprint(statistics.median([4, 8, 15, 16, 23, 42]))"}), "15.5"),
        (json!({"code": "def run(payload):\n    return sum(payload['n'])", "payload": {"n": [1, 2]}}), "3"),
        (json!({"code": "def run(payload):\n    print('looking')\n    return {'a': 1}"}), "looking\n{\n  \"a\": 1\n}"),
        (json!({"code": "def main():\n    print('ran')\n\nif __name__ == \"__main__\":\n    main()"}), "ran"),
        (json!({"code": "def run():\n    print('own')\nrun()"}), "own"),
        (json!({"code": "from datetime import date\nprint(date(2026, 11, 22).isoweekday())"}), "7"),
    ] {
        let done = bench.ok("python", arguments.clone()).await;
        assert_eq!(done.content, expect, "{arguments}");
        assert!(done.undo.is_none());
    }
    let all = bench.tools.catalogue();
    let spec = all.iter().find(|spec| spec.name == "python").unwrap();
    assert_eq!(spec.risk, RiskClass::Read);
}

#[tokio::test]
async fn what_goes_wrong_is_told_with_its_line() {
    let bench = Bench::new();
    for (code, expect) in [
        ("x = 1", "printed nothing"),
        ("print('a')\nprint(1 / 0)", "ZeroDivisionError"),
        ("print('a')\nprint(1 / 0)", "line 2"),
        ("print(", "line 1"),
        ("import os", "os"),
        ("import socket", "socket"),
        ("print(open('/etc/passwd').read())", "files are not available"),
        ("while True: pass", "longer than 5000 ms"),
        ("x = 'a' * (1 << 30)", "memory"),
    ] {
        let error = bench.refused("python", json!({"code": code})).await;
        assert!(error.contains(expect), "{code}: {error}");
        assert!(!error.contains("root:"), "{error}");
    }
}
