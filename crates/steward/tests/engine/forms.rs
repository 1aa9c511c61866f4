//! One call as many models write it.

/// The same call in the forms in which models write it.
pub const FORMS: &[(&str, &str)] = &[
    ("hermes", "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>"),
    ("qwen coder", "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"),
    ("llama", "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}"),
    ("bare", "{\"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}"),
    ("mistral", "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]"),
    (
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    ("harmony", "<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\": \"a.txt\"}<|call|>"),
    ("gemma", "```tool_code\nread(path=\"a.txt\")\n```"),
    ("granite", "<|tool_call|>[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]"),
    ("phi", "functools[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]"),
    ("command r", "Action: ```json\n[{\"tool_name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}]\n```"),
    ("glm", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>"),
    (
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": \"a.txt\"}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    (
        "invoke",
        "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>",
    ),
    ("python", "[read(path=\"a.txt\")]"),
    ("markers", "[TOOL:read|path=a.txt]"),
    ("react", "Thought: I need the file\nAction: read\nAction Input: {\"path\": \"a.txt\"}\n"),
    (
        "guided",
        "{\"reasoning\": \"look\", \"tool_calls\": [{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}], \"done\": false}",
    ),
    ("other names", "<tool_call>\n{\"name\": \"Read_File\", \"arguments\": {\"file_path\": \"a.txt\"}}\n</tool_call>"),
    ("after thinking", "<think>The file will say.</think>\n[TOOL:read|path=a.txt]"),
];
