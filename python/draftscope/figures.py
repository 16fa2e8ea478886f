# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of runs as `draftscope report` has them: counted in finished requests, without what the source lacks, and with what it
states of whole runs instead. Names are those of the catalogue (cli/OUTPUT.md)."""

import json

# Stops 3 and 4 are cancelled and error.
FINISHED = "(requests.end_ns > requests.start_ns AND requests.stop NOT IN (3, 4))"

# Draft tokens after the text's end do not count as accepted; an end-of-sequence token (stop 0) does.
ACCEPTED = "min(rounds.accepted, rounds.emitted + (requests.stop = 0))"

SUMS = f"""
WITH finished AS (
  SELECT id, run, stop, end_ns - start_ns AS wall_ns, end_ns - first_token_ns AS decode_ns, first_token_ns > 0 AS has_first,
         coalesce(length(tokens) / 4, 0) AS tokens
  FROM requests WHERE {FINISHED} AND prompt IN (SELECT id FROM prompts)
), by_request AS (
  SELECT run, count(*) AS requests, sum(tokens) AS output_tokens, sum(wall_ns) AS wall_ns, sum(has_first) AS firsts,
         sum(CASE WHEN has_first AND tokens > 0 THEN decode_ns END) AS decode_ns,
         sum(CASE WHEN has_first AND tokens > 0 THEN tokens - 1 END) AS later_tokens
  FROM finished GROUP BY run
), by_round AS (
  SELECT run, count(*) AS rounds, sum(drafted) AS drafted_tokens, sum({ACCEPTED}) AS accepted_tokens, sum(emitted) AS emitted,
         sum(draft_ns) AS draft_ns, sum(verify_ns) AS verify_ns
  FROM rounds JOIN finished AS requests ON requests.id = rounds.request GROUP BY run
)
SELECT runs.id AS run, strategy, specification, is_baseline, coalesce(requests, 0) AS requests,
       (SELECT count(*) FROM requests WHERE requests.run = runs.id AND NOT {FINISHED} AND prompt IN (SELECT id FROM prompts))
         AS unfinished, coalesce(output_tokens, 0) AS output_tokens, coalesce(wall_ns, 0) AS wall_ns,
       coalesce(decode_ns, 0) AS decode_ns, later_tokens, coalesce(firsts, 0) AS firsts, coalesce(rounds, 0) AS rounds,
       coalesce(drafted_tokens, 0) AS drafted_tokens, coalesce(accepted_tokens, 0) AS accepted_tokens, emitted, draft_ns, verify_ns
FROM runs LEFT JOIN by_request ON by_request.run = runs.id LEFT JOIN by_round ON by_round.run = runs.id ORDER BY runs.id"""

COLUMNS = ["run", "strategy", "specification", "is_baseline", "requests", "output_tokens", "wall_ns", "decode_ns",
           "tokens_per_second", "decode_tokens_per_second", "rounds", "drafted_tokens", "accepted_tokens", "tokens_per_round",
           "acceptance_rate", "draft_ns_per_round", "verify_ns_per_round"]

COSTS = ["draft_ns_per_round", "verify_ns_per_round"]
DRAFTS = ["drafted_tokens", "acceptance_rate"]

# Figures that rest on what a source may lack; two more conditions are in leave_out().
NEEDS = {
    "wall times": ["wall_ns", "decode_ns", "tokens_per_second", "decode_tokens_per_second"],
    "first token times": ["decode_tokens_per_second"],
    "prefill times": ["tokens_per_second"],
    "output lengths": ["output_tokens", "tokens_per_second", "decode_tokens_per_second"],
    "rounds": COSTS,
    "round times": COSTS,
    "phase times": COSTS,
    "plain steps": ["tokens_per_round", *COSTS],
    "draft lengths": DRAFTS,
    "accepted lengths": ["accepted_tokens", "tokens_per_round", *DRAFTS],
}

# What sources call the figures that they state, by figure.
STATED = {
    "requests": ["requests"],
    "output_tokens": ["output_tokens"],
    "wall_ns": ["wall_ns"],
    "tokens_per_second": ["tokens_per_second"],
    "decode_tokens_per_second": ["decode_tokens_per_second"],
}
STATED_OF_ROUNDS = {
    "rounds": ["verify_steps"],
    "drafted_tokens": ["drafted_tokens", "drafted"],
    "accepted_tokens": ["accepted_tokens", "accepted"],
    "acceptance_rate": ["acceptance_rate"],
}
RATES = ["tokens_per_second", "decode_tokens_per_second", "acceptance_rate"]  # The others are counts and sums.


def refuse(constant):
    raise ValueError(f"found {constant}, expected a number of JSON")


def json_or(kind, text):
    """What a text of `meta` holds, if that is JSON of the kind; else an empty one."""
    try:
        value = json.loads(text, parse_constant=refuse)
    except (TypeError, ValueError, RecursionError):
        return kind()
    return value if isinstance(value, kind) else kind()


def ratio(part, whole, unit=1):
    return part * unit / whole if whole and whole > 0 else None


def measured(sums):
    """Figures of a run's rows; None is what they do not give."""
    return {
        **{column: sums[column] for column in COLUMNS if column in sums},
        "tokens_per_second": ratio(sums["output_tokens"], sums["wall_ns"], 1e9),
        "decode_tokens_per_second": ratio(sums["later_tokens"], sums["decode_ns"], 1e9) or None,
        "tokens_per_round": ratio(sums["emitted"], sums["rounds"]),
        "acceptance_rate": ratio(sums["accepted_tokens"], sums["drafted_tokens"]),
        "draft_ns_per_round": ratio(sums["draft_ns"], sums["rounds"]),
        "verify_ns_per_round": ratio(sums["verify_ns"], sums["rounds"]),
    }


def leave_out(figures, sums, lacks, is_imported):
    """Removes what rests on data that the source lacks; an import without rows has no counts, either."""
    has_first = sums["firsts"] > 0
    for missing in lacks:
        if missing == "draft lengths" and figures["is_baseline"]:
            continue  # It drafts nothing.
        figures.update(dict.fromkeys(NEEDS.get(missing, [])))
        if missing == "first token times" and not has_first:
            figures["decode_ns"] = None
        has_first = has_first and missing not in ("first token times", "prefill times")
    if not is_imported:
        return
    if sums["requests"] + sums["unfinished"] == 0:
        figures.update(dict.fromkeys(["requests", "output_tokens", "wall_ns", "decode_ns"]))
    if sums["rounds"] == 0:
        figures.update(dict.fromkeys(["rounds", "accepted_tokens", *DRAFTS]))


def put_stated(figures, sums, stated):
    """Fills in what the source states of the run and no row gives."""
    names = {**STATED, **({} if sums["rounds"] > 0 else STATED_OF_ROUNDS)}
    for figure, aliases in names.items():
        values = [stated[name] for name in aliases if type(stated.get(name)) in (int, float) and stated[name] >= 0]
        if figures[figure] is not None or not values:
            continue
        if figure in RATES:
            figures[figure] = float(values[0])
        elif values[0] <= 2**53:  # Greater ones are not exact.
            figures[figure] = int(values[0] + 0.5)
    if sums["rounds"] == 0 and figures["acceptance_rate"] is None and figures["accepted_tokens"] is not None:
        figures["acceptance_rate"] = ratio(figures["accepted_tokens"], figures["drafted_tokens"])


def figures_of(sums, meta, lacks):
    """Figures of one run, from its row of SUMS."""
    figures = measured(sums)
    leave_out(figures, sums, lacks, "imported_from" in meta)
    if "imported_from" in meta:
        stated = json_or(dict, meta.get("stated_figures")).get(sums["specification"])
        put_stated(figures, sums, stated if isinstance(stated, dict) else {})
    return {name: float("nan") if value is None else value for name, value in figures.items()}
