// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/result.h>
#include <draftscope/record.h>
#include <draftscope/traces/writer.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/foreign_writer.h"

struct draftscope_recording {
  draftscope_recording(std::unique_ptr<draftscope::traces::Writer> opened)
      : writer(std::move(opened)), rows(*writer) {}

  std::mutex mutex;
  std::unique_ptr<draftscope::traces::Writer> writer;
  draftscope::traces::ForeignWriter rows;
  std::uint64_t last_id = 0;
};

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_list = std::int64_t{1} << 22U;

/// The message of this thread's last call, if that failed.
std::string& last_error() {
  thread_local std::string message;
  return message;
}

draftscope_record_status refuse(draftscope_record_status status, std::string message) {
  last_error() = std::move(message);
  return status;
}

void copy_message(char* message, std::size_t bytes, const std::string& text) {
  if (message == nullptr || bytes == 0) return;
  const std::size_t length = std::min(bytes - 1, text.size());
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

/// Copies the caller's struct into `whole`; fields that the caller's version lacks stay unchanged.
template <typename Struct>
bool take(const Struct* given, Struct& whole) {
  // An older caller's struct is shorter, and a newer one's is longer.
  if (given == nullptr || given->size < sizeof(std::size_t) + sizeof(void*)) return false;
  std::memcpy(&whole, given, std::min(given->size, sizeof(Struct)));
  return true;
}

template <typename Element>
std::vector<Element> list(const Element* first, std::int64_t length) {
  if (first == nullptr || length <= 0) return {};
  return {first, first + std::min(length, max_list)};
}

/// Adds the current times of both clocks, under keys with this beginning.
void add_clocks(const std::string& beginning, Meta& meta) {
  const ClockPair now = read_clock_pair();
  meta[beginning + "_monotonic_ns"] = std::to_string(now.monotonic_ns);
  meta[beginning + "_realtime_ns"] = std::to_string(now.realtime_ns);
}

Meta identity(const draftscope_record_settings& settings) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  Meta meta{{"imported_from", settings.engine != nullptr ? settings.engine : "an engine"},
            {"imported_format", "draftscope/record.h"},
            {"lacks", missing_data_text({MissingData::layer_sets, MissingData::device})},
            {"hostname", host},
            {"tool_version", DRAFTSCOPE_VERSION}};
  add_clocks("clock_start", meta);
  for (const auto& [key, text] : {std::pair{"engine", settings.engine},
                                  {"engine_version", settings.engine_version},
                                  {"model", settings.model},
                                  {"engine_settings", settings.parameters}})
    if (text != nullptr) meta[key] = text;
  return meta;
}

/// Runs `work` under the recording's lock; no exception escapes.
template <typename Work>
draftscope_record_status call(draftscope_recording* recording, Work work) {
  try {
    last_error().clear();
    if (recording == nullptr)
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                    "recording is null, expected one from draftscope_record_create");
    const std::lock_guard lock(recording->mutex);
    if (recording->writer->failed())
      return refuse(DRAFTSCOPE_RECORD_DISK, "the trace can't be written; draftscope_record_close says why");
    return work();
  } catch (const std::bad_alloc&) {
    return DRAFTSCOPE_RECORD_MEMORY;
  } catch (...) {
    return DRAFTSCOPE_RECORD_ARGUMENT;  // The length exceeds what a container can store.
  }
}

draftscope_record_status not_initialised(const char* name) {
  return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                fmt::format("{} is null or not initialised, expected its _INIT macro", name));
}

draftscope_record_status status_of(const Result<void>& done) {
  return done ? DRAFTSCOPE_RECORD_OK : refuse(DRAFTSCOPE_RECORD_ARGUMENT, done.error().message);
}

/// Whether a caller may set the key: any but those that the trace sets itself.
bool is_callers(std::string_view key) {
  constexpr std::array<std::string_view, 6> own{"closed_cleanly", "engine_settings",    "hostname",
                                                "lacks",          "overview_column_ns", "tool_version"};
  constexpr std::array<std::string_view, 4> own_beginnings{"clock_", "dropped_", "imported_", "predicted_"};
  return !key.empty() && std::ranges::find(own, key) == own.end() &&
         std::ranges::none_of(own_beginnings, [&](std::string_view first) { return key.starts_with(first); });
}

/// Whether the text is UTF-8, without which it can't be written as JSON either.
bool is_utf8(const char* text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

struct NamedText {
  const char* name;
  const char* text;
};

Result<void> check_texts(std::initializer_list<NamedText> texts) {
  for (const auto& [name, text] : texts)
    if (text != nullptr && !is_utf8(text))
      return fail("{} has bytes that are not UTF-8, expected text", name);
  return {};
}

struct NamedNumber {
  const char* name;
  std::int64_t number;
};

/// Refuses numbers below -1, which is an unknown one.
Result<void> check_numbers(std::initializer_list<NamedNumber> numbers) {
  for (const auto& [name, number] : numbers)
    if (number < -1) return fail("{} is {}, expected at least -1", name, number);
  return {};
}

Result<std::vector<std::int32_t>> token_list(const char* name, const std::int32_t* first,
                                             std::int64_t length) {
  std::vector<std::int32_t> tokens = list(first, length);
  const auto wrong = std::ranges::find_if(tokens, [](std::int32_t token) { return token < -1; });
  if (wrong != tokens.end())
    return fail("{}[{}] is {}, expected at least -1", name, wrong - tokens.begin(), *wrong);
  return tokens;
}

Result<void> check_length(const char* name, std::int64_t length) {
  if (length >= 0 && length <= max_list) return {};
  return fail("{} is {}, expected 0 to {}", name, length, max_list);
}

Result<ForeignStart> start_of(const draftscope_record_request& said) {
  if (said.run == nullptr || *said.run == '\0')
    return fail("run is null or empty, expected the strategy's name");
  DRAFTSCOPE_TRY(check_texts({{"run", said.run}, {"prompt", said.prompt}, {"category", said.category}}));
  DRAFTSCOPE_TRY(check_numbers({{"start_ns", said.start_ns}, {"question_id", said.question_id}}));
  ForeignStart start;
  start.run = said.run;
  start.start_ns = said.start_ns;
  if (said.prompt != nullptr) start.prompt = said.prompt;
  if (said.prompt_tokens != nullptr) {
    DRAFTSCOPE_TRY(check_length("n_prompt_tokens", said.n_prompt_tokens));
    DRAFTSCOPE_TRY_ASSIGN(start.prompt_tokens,
                          token_list("prompt_tokens", said.prompt_tokens, said.n_prompt_tokens));
  } else {
    DRAFTSCOPE_TRY(check_numbers({{"n_prompt_tokens", said.n_prompt_tokens}}));
    start.n_prompt_tokens = said.n_prompt_tokens;
  }
  start.question_id = said.question_id;
  if (said.category != nullptr) start.category = said.category;
  start.repeat = said.repeat;
  start.seed = said.seed;
  return start;
}

Result<ForeignRound> row_of(const draftscope_record_round& said) {
  DRAFTSCOPE_TRY(check_numbers({{"start_ns", said.start_ns},
                                {"end_ns", said.end_ns},
                                {"planned", said.planned},
                                {"emitted", said.emitted},
                                {"draft_ns", said.draft_ns},
                                {"verify_ns", said.verify_ns},
                                {"accept_ns", said.accept_ns},
                                {"control_ns", said.control_ns}}));
  ForeignRound row;
  row.start_ns = said.start_ns;
  row.end_ns = said.end_ns;
  row.planned = said.planned;
  row.drafted = said.drafted;
  row.accepted = said.accepted;
  row.emitted = said.emitted;
  row.verify_rows = said.verify_rows;
  row.exit_layer = said.exit_layer;
  row.bonus_token = said.bonus_token;
  row.draft_ns = said.draft_ns;
  row.verify_ns = said.verify_ns;
  row.accept_ns = said.accept_ns;
  row.control_ns = said.control_ns;
  DRAFTSCOPE_TRY_ASSIGN(row.tokens, token_list("tokens", said.tokens, said.drafted));
  row.confidences = list(said.confidences, said.drafted);
  row.probabilities = list(said.probabilities, said.drafted);
  row.parents = list(said.parents, said.drafted);
  row.taken = list(said.taken, said.drafted);
  return row;
}

Result<ForeignEnd> row_of(const draftscope_record_end& said) {
  if (said.stop < -1 || said.stop > DRAFTSCOPE_RECORD_STOP_STRING)
    return fail("stop is {}, expected -1 to {}", said.stop, int{DRAFTSCOPE_RECORD_STOP_STRING});
  DRAFTSCOPE_TRY(check_texts({{"text", said.text}}));
  DRAFTSCOPE_TRY(check_numbers({{"end_ns", said.end_ns}, {"first_token_ns", said.first_token_ns}}));
  ForeignEnd row;
  row.end_ns = said.end_ns;
  row.first_token_ns = said.first_token_ns;
  if (said.stop >= 0) row.stop = static_cast<RequestStop>(said.stop);
  if (said.text != nullptr) row.text = said.text;
  if (said.tokens != nullptr) {
    DRAFTSCOPE_TRY(check_length("n_tokens", said.n_tokens));
    DRAFTSCOPE_TRY_ASSIGN(row.tokens, token_list("tokens", said.tokens, said.n_tokens));
  } else {
    DRAFTSCOPE_TRY(check_numbers({{"n_tokens", said.n_tokens}}));
    row.n_tokens = said.n_tokens;
  }
  return row;
}

}  // namespace
}  // namespace draftscope::traces

using namespace draftscope::traces;

extern "C" {

int32_t draftscope_record_version(void) {
  return DRAFTSCOPE_RECORD_VERSION;
}

int64_t draftscope_record_now_ns(void) {
  return draftscope::now_ns();
}

draftscope_record_status draftscope_record_create(const char* path,
                                                  const draftscope_record_settings* settings,
                                                  draftscope_recording** recording, char* message,
                                                  size_t message_bytes) {
  copy_message(message, message_bytes, "");
  last_error().clear();
  try {
    const auto refused = [&](draftscope_record_status status, const std::string& text) {
      copy_message(message, message_bytes, text);
      return refuse(status, text);
    };
    if (recording == nullptr)
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "recording is null, expected where to put it");
    *recording = nullptr;
    if (path == nullptr || *path == '\0')
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "path is null or empty, expected a file's name");
    draftscope_record_settings whole = DRAFTSCOPE_RECORD_SETTINGS_INIT;
    if (!take(settings, whole))
      return refused(DRAFTSCOPE_RECORD_ARGUMENT,
                     "settings is null or not initialised, expected DRAFTSCOPE_RECORD_SETTINGS_INIT");
    if (const auto texts = check_texts({{"engine", whole.engine},
                                        {"engine_version", whole.engine_version},
                                        {"model", whole.model},
                                        {"parameters", whole.parameters}});
        !texts)
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, texts.error().message);
    if (whole.parameters != nullptr && !nlohmann::json::parse(whole.parameters, nullptr, false).is_object())
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "parameters is no JSON object, expected one");
    auto writer = Writer::create(path, identity(whole), {.overwrite = whole.overwrite != 0});
    if (!writer) return refused(DRAFTSCOPE_RECORD_DISK, writer.error().message);
    auto opened = std::make_unique<draftscope_recording>(std::move(*writer));
    opened->rows.note({MissingData::layer_sets, MissingData::device});
    *recording = opened.release();
    return DRAFTSCOPE_RECORD_OK;
  } catch (const std::bad_alloc&) {
    return DRAFTSCOPE_RECORD_MEMORY;
  } catch (...) {
    return DRAFTSCOPE_RECORD_DISK;
  }
}

draftscope_record_status draftscope_record_meta(draftscope_recording* recording, const char* key,
                                                const char* value) {
  return call(recording, [&] {
    if (key == nullptr || value == nullptr)
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT, "key or value is null, expected text");
    if (const auto texts = check_texts({{"key", key}, {"value", value}}); !texts) return status_of(texts);
    if (!is_callers(key))
      return refuse(
          DRAFTSCOPE_RECORD_ARGUMENT,
          fmt::format("key is {}, which the trace sets itself, expected another", draftscope::quote(key)));
    recording->writer->set_meta(key, value);
    return draftscope_record_status{DRAFTSCOPE_RECORD_OK};
  });
}

draftscope_record_status draftscope_record_begin(draftscope_recording* recording,
                                                 const draftscope_record_request* request, uint64_t* id) {
  return call(recording, [&] {
    draftscope_record_request said = DRAFTSCOPE_RECORD_REQUEST_INIT;
    if (!take(request, said)) return not_initialised("request");
    if (id == nullptr) return refuse(DRAFTSCOPE_RECORD_ARGUMENT, "id is null, expected where to put it");
    const auto start = start_of(said);
    if (!start) return refuse(DRAFTSCOPE_RECORD_ARGUMENT, start.error().message);
    const auto done = recording->rows.begin(std::to_string(recording->last_id + 1), *start, "request");
    if (done) *id = ++recording->last_id;
    return status_of(done);
  });
}

draftscope_record_status draftscope_record_add(draftscope_recording* recording, uint64_t id,
                                               const draftscope_record_round* round) {
  return call(recording, [&] {
    draftscope_record_round said = DRAFTSCOPE_RECORD_ROUND_INIT;
    if (!take(round, said)) return not_initialised("round");
    if (!recording->rows.is_open(std::to_string(id)))
      return refuse(DRAFTSCOPE_RECORD_ORDER,
                    fmt::format("request {} is not under way, expected one that began", id));
    const auto row = row_of(said);
    if (!row) return refuse(DRAFTSCOPE_RECORD_ARGUMENT, row.error().message);
    return status_of(recording->rows.round(std::to_string(id), *row, "round"));
  });
}

draftscope_record_status draftscope_record_finish(draftscope_recording* recording, uint64_t id,
                                                  const draftscope_record_end* end) {
  return call(recording, [&] {
    draftscope_record_end said = DRAFTSCOPE_RECORD_END_INIT;
    if (!take(end, said)) return not_initialised("end");
    if (!recording->rows.is_open(std::to_string(id)))
      return refuse(DRAFTSCOPE_RECORD_ORDER,
                    fmt::format("request {} is not under way, expected one that began", id));
    const auto row = row_of(said);
    if (!row) return refuse(DRAFTSCOPE_RECORD_ARGUMENT, row.error().message);
    return status_of(recording->rows.end(std::to_string(id), *row, "end"));
  });
}

const char* draftscope_record_error(const draftscope_recording* /*recording*/) {
  return last_error().c_str();
}

draftscope_record_status draftscope_record_close(draftscope_recording* recording, char* message,
                                                 size_t message_bytes) {
  copy_message(message, message_bytes, "");
  last_error().clear();
  try {
    const auto refused = [&](draftscope_record_status status, const std::string& text) {
      copy_message(message, message_bytes, text);
      return refuse(status, text);
    };
    if (recording == nullptr)
      return refused(DRAFTSCOPE_RECORD_ARGUMENT,
                     "recording is null, expected one from draftscope_record_create");
    const std::unique_ptr<draftscope_recording> owned(recording);
    (void)owned->rows.cancel_all("close");
    Meta end;
    add_clocks("clock_end", end);
    for (const auto& [key, text] : end) owned->writer->set_meta(key, text);
    if (const auto closed = owned->writer->close(); !closed)
      return refused(DRAFTSCOPE_RECORD_DISK, closed.error().message);
    return DRAFTSCOPE_RECORD_OK;
  } catch (...) {
    return DRAFTSCOPE_RECORD_MEMORY;
  }
}

}  // extern "C"
