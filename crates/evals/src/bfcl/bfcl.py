"""Cases and verdicts of the package bfcl-eval, for `steward-evals bfcl`.

  bfcl.py cases CATEGORY     -> [{"id", "question", "function"}]
  bfcl.py check CATEGORY     [{"id", "calls": [{name: arguments}]}] on stdin -> [{"id", "right", "why"}]
"""

import importlib.util
import json
import pathlib
import sys
import types


class NoRenaming(dict):
    """Stands in for the package's table of hosted models.

    The checker asks the table one thing only: whether a model's provider turns dots in function names into
    underscores. Ours never does, and the real table would import the SDKs of fourteen providers.
    """

    def __missing__(self, key):
        return types.SimpleNamespace(underscore_to_dot=False)


def checker():
    table = types.ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = NoRenaming()
    sys.modules[table.__name__] = table
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    return lambda functions, calls, answer, category: ast_checker(
        functions, calls, answer, Language.PYTHON, category, "steward"
    )


def lines(folder, category):
    data = pathlib.Path(importlib.util.find_spec("bfcl_eval").origin).parent / "data"
    with open(data / folder / f"BFCL_v4_{category}.json", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def reason(error):
    if isinstance(error, list):
        return "; ".join(reason(one) for one in error)
    if isinstance(error, dict):
        return "; ".join(reason(one["sub_error"]) for one in error.values())
    return str(error)


def check(category, given):
    if "relevance" in category:
        wanted = "irrelevance" not in category
        return [
            {
                "id": one["id"],
                "right": bool(one["calls"]) == wanted,
                "why": "" if bool(one["calls"]) == wanted else ("no call was made" if wanted else "a call was made"),
            }
            for one in given
        ]
    verdict = checker()
    functions = {case["id"]: case["function"] for case in lines(".", category)}
    answers = {case["id"]: case["ground_truth"] for case in lines("possible_answer", category)}
    out = []
    for one in given:
        try:
            found = verdict(functions[one["id"]], one["calls"], answers[one["id"]], category)
            out.append({"id": one["id"], "right": found["valid"], "why": reason(found["error"])})
        except Exception as error:  # the checker trusts its input more than a small model deserves
            out.append({"id": one["id"], "right": False, "why": f"{type(error).__name__}: {error}"})
    return out


def main():
    mode, category = sys.argv[1:]
    result = lines(".", category) if mode == "cases" else check(category, json.load(sys.stdin))
    json.dump(result, sys.stdout)


main()
