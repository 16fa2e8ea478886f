// SPDX-License-Identifier: GPL-3.0-or-later
// Imports the neutral format: a header, then one line for each beginning of a request, each round and each
// end of a request, in the order in which they happened (docs/rounds-format.md).
#include <draftscope/base/json_field.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"
#include "foreign/rounds_fields.h"
#include "import/formats.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_line_token = std::numeric_limits<std::int32_t>::max();

/// Fields of one line. Both arguments must outlive it. Requested fields count as known. Errors name the line
/// and the field.
class LineFields {
 public:
  LineFields(const nlohmann::json& object, const std::string& where) : line_(object, where) {}

  JsonField operator[](const char* name) {
    known_.push_back(name);
    return line_[name];
  }
  /// The field, or null if it is absent.
  const nlohmann::json* find(const char* name) {
    return (*this)[name].is_null() ? nullptr : &line_.value()[name];
  }
  Result<std::int64_t> integer(const char* name, std::int64_t least, std::int64_t most,
                               std::int64_t otherwise) {
    return (*this)[name].integer_or(Range<std::int64_t>{least, most}, otherwise);
  }
  Result<std::optional<std::string>> text(const char* name) {
    const JsonField field = (*this)[name];
    if (field.is_null()) return std::nullopt;
    return field.text();
  }
  Result<std::optional<std::vector<std::int32_t>>> tokens(const char* name) {
    if ((*this)[name].is_null()) return std::nullopt;
    std::vector<std::int32_t> tokens;
    DRAFTSCOPE_TRY(each(name, [&](const JsonField& token) -> Result<void> {
      DRAFTSCOPE_TRY_ASSIGN(tokens.emplace_back(), token.integer(Range<std::int32_t>{.min = -1}));
      return {};
    }));
    return tokens;
  }
  /// Reads numbers, of which null is one that is unknown.
  Result<std::vector<double>> numbers(const char* name) {
    std::vector<double> numbers;
    DRAFTSCOPE_TRY(each(name, [&](const JsonField& number) -> Result<void> {
      constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
      DRAFTSCOPE_TRY_ASSIGN(numbers.emplace_back(), number.number_or({}, unknown));
      return {};
    }));
    return numbers;
  }
  Result<std::vector<std::uint8_t>> flags(const char* name) {
    std::vector<std::uint8_t> flags;
    DRAFTSCOPE_TRY(each(name, [&](const JsonField& flag) -> Result<void> {
      DRAFTSCOPE_TRY_ASSIGN(flags.emplace_back(), flag.boolean());
      return {};
    }));
    return flags;
  }
  /// Reads an object of scalars, as texts, without those that are null.
  Result<Meta> object(const char* name) {
    Meta texts;
    const JsonField field = (*this)[name];
    if (field.is_null()) return texts;
    DRAFTSCOPE_TRY(field.object());
    for (const auto& [key, entry] : field.value().items())
      if (!entry.is_null())
        texts[key] = entry.is_string() ? entry.get<std::string>()
                                       : entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return texts;
  }
  template <typename Enumeration>
  Result<std::optional<Enumeration>> named(const char* name, std::string_view (*name_of)(Enumeration),
                                           Enumeration last) {
    const JsonField field = (*this)[name];
    if (field.is_null()) return std::nullopt;
    return field.named(name_of, last);
  }
  /// Fails if a field is present that nobody requested; x_… is allowed to anybody.
  Result<void> knew_all() const {
    for (const auto& [key, value] : line_.value().items())
      if (key != "record" && !key.starts_with("x_") &&
          std::find(known_.begin(), known_.end(), key) == known_.end())
        return line_[key].wrong("a field of docs/rounds-format.md, or x_…");
    return {};
  }

 private:
  /// Takes each element of a list, which may be absent.
  template <typename Take>
  Result<void> each(const char* name, Take take) {
    const JsonField field = (*this)[name];
    if (field.is_null()) return {};
    const nlohmann::json& list = field.value();
    if (!list.is_array()) return field.wrong("a list");
    // A line may hold millions of tokens: one element's place at a time.
    for (std::size_t i = 0; i < list.size(); ++i)
      DRAFTSCOPE_TRY(take(JsonField(list[i], field.file(), fmt::format("{}[{}]", field.path(), i))));
    return {};
  }

  JsonField line_;
  std::vector<std::string_view> known_;
};

using nlohmann::json;

constexpr std::int64_t max_number = std::numeric_limits<std::int64_t>::max();

Result<void> read_header(const json& object, const std::string& where, ImportContext& context) {
  LineFields fields(object, where);
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, fields["format"].text());
  if (format != rounds_format)
    return fail("{}: format is {}, expected {}", where, quote(format), rounds_format);
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t version, fields.integer("version", 1, max_number, 0));
  if (version == 0) return fail("{}: version is missing, expected {}", where, rounds_version);
  if (version > rounds_version)
    return fail("{}: version is {}, expected at most {}; a newer draftscope reads it", where, version,
                rounds_version);
  Writer& writer = context.target.writer();
  for (const auto& [field, key] : {std::pair{"engine", "engine"},
                                   {"engine_version", "engine_version"},
                                   {"host", "hostname"},
                                   {"rank", "rank"},
                                   {"command_line", "command_line"}}) {
    DRAFTSCOPE_TRY_ASSIGN(const auto text, fields.text(field));
    if (text) writer.set_meta(key, *text);
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto model, fields.text("model"));
  if (context.model.empty() && model) context.model = *model;
  if (const json* const clock = fields.find("clock")) {
    if (!clock->is_object()) return unexpected_json(*clock, where, "clock", "an object");
    for (const char* const name : {"monotonic_ns", "realtime_ns"}) {
      DRAFTSCOPE_TRY_ASSIGN(const auto ns, JsonFields(*clock, where).integer(name, 0, max_ns));
      if (ns)
        writer.set_meta(
            name == std::string_view("monotonic_ns") ? "clock_start_monotonic_ns" : "clock_start_realtime_ns",
            std::to_string(*ns));
    }
  }
  DRAFTSCOPE_TRY_ASSIGN(const Meta settings, fields.object("settings"));
  json others = json::object();
  for (const auto& [key, text] : settings) {
    const bool is_known =
        std::find(settings_in_meta.begin(), settings_in_meta.end(), key) != settings_in_meta.end();
    if (is_known)
      writer.set_meta(key, text);
    else
      others[key] = text;
  }
  if (!others.empty())
    writer.set_meta("engine_settings", others.dump(-1, ' ', false, json::error_handler_t::replace));
  if (const json* const lacks = fields.find("lacks"))
    for (const MissingData missing : missing_data_of({{"lacks", lacks->dump()}}))
      context.target.note(missing);
  return fields.knew_all();
}

Result<void> read_run(const json& object, const std::string& where, ForeignWriter& rows) {
  LineFields fields(object, where);
  DRAFTSCOPE_TRY_ASSIGN(const std::string name, fields["run"].text());
  DRAFTSCOPE_TRY_ASSIGN(const bool is_baseline, fields["baseline"].boolean_or(false));
  const json* const parameters = fields.find("parameters");
  if (parameters != nullptr && !parameters->is_object())
    return unexpected_json(*parameters, where, "parameters", "an object");
  DRAFTSCOPE_TRY(fields.knew_all());
  rows.run(name, is_baseline,
           parameters == nullptr ? "{}" : parameters->dump(-1, ' ', false, json::error_handler_t::replace));
  return {};
}

Result<void> read_request(const json& object, const std::string& where, ForeignWriter& rows) {
  LineFields fields(object, where);
  ForeignStart start;
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, fields["request"].text());
  DRAFTSCOPE_TRY_ASSIGN(start.run, fields["run"].text());
  DRAFTSCOPE_TRY_ASSIGN(start.start_ns, fields.integer("start_ns", 0, max_ns, -1));
  DRAFTSCOPE_TRY_ASSIGN(start.prompt, fields.text("prompt"));
  DRAFTSCOPE_TRY_ASSIGN(start.prompt_tokens, fields.tokens("prompt_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(start.n_prompt_tokens, fields.integer("n_prompt_tokens", 0, max_answer_tokens, -1));
  DRAFTSCOPE_TRY_ASSIGN(start.question_id, fields.integer("question_id", 0, max_number, -1));
  DRAFTSCOPE_TRY_ASSIGN(const auto category, fields.text("category"));
  start.category = category.value_or("");
  DRAFTSCOPE_TRY_ASSIGN(start.turn, fields.integer("turn", 0, max_line_token, 0));
  DRAFTSCOPE_TRY_ASSIGN(start.repeat, fields.integer("repeat", 0, max_line_token, 0));
  if (const json* const seed = fields.find("seed")) {
    if (!seed->is_number_unsigned())
      return unexpected_json(*seed, where, "seed", "an integer from 0 to 2^64 - 1");
    start.seed = seed->get<std::uint64_t>();
  }
  DRAFTSCOPE_TRY(fields.knew_all());
  return rows.begin(key, start, where);
}

Result<void> read_round(const json& object, const std::string& where, ForeignWriter& rows) {
  LineFields fields(object, where);
  ForeignRound round;
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, fields["request"].text());
  struct Number {
    const char* name;
    std::int64_t& value;
    std::int64_t most;
  };
  if (fields.find("accepted") == nullptr)
    return fail("{}: accepted is missing, expected the accepted draft tokens", where);
  for (const Number& one :
       {Number{"start_ns", round.start_ns, max_ns}, Number{"end_ns", round.end_ns, max_ns},
        Number{"planned", round.planned, max_draft_tokens},
        Number{"drafted", round.drafted, max_draft_tokens},
        Number{"accepted", round.accepted, max_draft_tokens},
        Number{"emitted", round.emitted, max_draft_tokens + 1},
        Number{"position", round.position, max_line_token},
        Number{"verify_rows", round.verify_rows, max_line_token},
        Number{"exit_layer", round.exit_layer, max_line_token},
        Number{"bonus_token", round.bonus_token, max_line_token}, Number{"draft_ns", round.draft_ns, max_ns},
        Number{"verify_ns", round.verify_ns, max_ns}, Number{"accept_ns", round.accept_ns, max_ns},
        Number{"optimise_ns", round.optimise_ns, max_ns}, Number{"control_ns", round.control_ns, max_ns}}) {
    DRAFTSCOPE_TRY_ASSIGN(one.value, fields.integer(one.name, 0, one.most, one.value));
  }
  DRAFTSCOPE_TRY_ASSIGN(round.draft_stop, fields.named("draft_stop", draft_stop_name, DraftStop::no_draft));
  DRAFTSCOPE_TRY_ASSIGN(round.threshold, fields["threshold"].number_or({}, -1.0));
  DRAFTSCOPE_TRY_ASSIGN(auto tokens, fields.tokens("tokens"));
  round.tokens = std::move(tokens).value_or(std::vector<std::int32_t>{});
  DRAFTSCOPE_TRY_ASSIGN(auto parents, fields.tokens("parents"));
  round.parents = std::move(parents).value_or(std::vector<std::int32_t>{});
  DRAFTSCOPE_TRY_ASSIGN(round.confidences, fields.numbers("confidences"));
  DRAFTSCOPE_TRY_ASSIGN(round.probabilities, fields.numbers("probabilities"));
  DRAFTSCOPE_TRY_ASSIGN(round.taken, fields.flags("taken"));
  DRAFTSCOPE_TRY_ASSIGN(round.tested, fields.flags("tested"));
  DRAFTSCOPE_TRY(fields.knew_all());
  return rows.round(key, round, where);
}

Result<void> read_end(const json& object, const std::string& where, ForeignWriter& rows) {
  LineFields fields(object, where);
  ForeignEnd end;
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, fields["request"].text());
  DRAFTSCOPE_TRY_ASSIGN(end.end_ns, fields.integer("end_ns", 0, max_ns, -1));
  DRAFTSCOPE_TRY_ASSIGN(end.first_token_ns, fields.integer("first_token_ns", 0, max_ns, -1));
  DRAFTSCOPE_TRY_ASSIGN(end.stop, fields.named("stop", request_stop_name, RequestStop::stop_string));
  DRAFTSCOPE_TRY_ASSIGN(end.text, fields.text("text"));
  DRAFTSCOPE_TRY_ASSIGN(end.tokens, fields.tokens("tokens"));
  DRAFTSCOPE_TRY_ASSIGN(end.n_tokens, fields.integer("n_tokens", 0, max_answer_tokens, -1));
  DRAFTSCOPE_TRY(fields.knew_all());
  return rows.end(key, end, where);
}

Result<void> import_rounds(const std::filesystem::path& file, ImportContext& context) {
  ForeignWriter& rows = context.foreign;
  ForeignWriter::Counts before;
  bool has_header = false;
  auto read = read_json_lines(
      file, context.progress,
      [&](const json& object, std::int64_t /*line*/, const std::string& where) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(const auto record, JsonFields(object, where).text("record"));
        if (!record) return fail("{}: record is missing, expected header, run, request, round or end", where);
        if ((*record == "header") == has_header)
          return fail("{}: record is {}, expected {}", where, quote(*record),
                      has_header ? "one header, in the first line" : "the header first");
        Result<void> taken;
        if (*record == "header") {
          has_header = true;
          taken = read_header(object, where, context);
        } else if (*record == "run") {
          taken = read_run(object, where, rows);
        } else if (*record == "request") {
          taken = read_request(object, where, rows);
        } else if (*record == "round") {
          taken = read_round(object, where, rows);
        } else if (*record == "end") {
          taken = read_end(object, where, rows);
        } else {
          return fail("{}: record is {}, expected header, run, request, round or end", where, quote(*record));
        }
        DRAFTSCOPE_TRY(taken);
        context.target.took(rows.counts().rows - before.rows);
        before = rows.counts();
        return {};
      },
      context.options.partial);
  DRAFTSCOPE_TRY(read);
  if (const auto key = rows.open_key(); key && !context.options.partial)
    return fail("{}: request {} never ended, expected its end line (--partial takes what is there)",
                file.string(), quote(*key));
  return rows.cancel_all(file.string());
}

int rounds_sureness(const FileHead& head) {
  return head.is_json() && head.text().find("\"draftscope-rounds\"") != std::string_view::npos ? 90 : 0;
}

}  // namespace

FormatRow format_of_rounds() {
  return {"rounds", "neutral JSONL, a line a request and a round: docs/rounds-format.md", import_rounds,
          rounds_sureness, true};
}

}  // namespace draftscope::traces
