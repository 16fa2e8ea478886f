// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <fmt/format.h>

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/analysis/what_is_traced.h>

#include <algorithm>
#include <set>

#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using traces::Meta;

/// Joins the parts that are not empty.
std::string joined(const std::vector<std::string>& parts, const Glyphs& glyphs) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty()) line += glyphs.separator();
    line += part;
  }
  return printable(line);
}

/// Text like "2 threads" if the file states the number; a GPU's recording states 0.
std::string stated_threads(const Meta& meta) {
  const std::string value = simulator::meta_value(meta, "threads");
  return value.empty() || value == "0" ? "" : value + (value == "1" ? " thread" : " threads");
}

/// Text like "from gguf Q4_K, Q6_K" or "from safetensors awq 4-bit", for weights that were not stored
/// plainly.
std::string stored_types(const Meta& meta) {
  const std::string stored = simulator::meta_value(meta, "stored_as");
  const bool is_plain = stored == "safetensors " + simulator::meta_value(meta, "dtype");
  return stored.empty() || is_plain ? "" : "from " + stored;
}

/// Text like "layers in fp8" or "held in q4_1, q8_0", if weights in memory differ from the files.
std::string held_weights(const Meta& meta) {
  const std::string weights = simulator::meta_value(meta, "weights");
  if (weights.empty() || weights == "as-stored") return "";
  return weights == "fp8" ? "layers in fp8" : "held in " + weights;
}

std::string model_line(const traces::Recording& recording, const Glyphs& glyphs) {
  const Meta& meta = recording.meta;
  const std::string name = simulator::meta_value(meta, "model");
  const std::int32_t layers = simulator::model_layers(recording);
  return joined({name.empty() ? "unknown model" : name, layers > 0 ? fmt::format("{} layers", layers) : "",
                 simulator::meta_value(meta, "dtype"), stored_types(meta), held_weights(meta),
                 simulator::meta_value(meta, "synthetic") == "1" ? "synthetic weights" : ""},
                glyphs);
}

std::string machine_line(const Meta& meta, const Glyphs& glyphs) {
  const std::string device = simulator::meta_value(meta, "device");
  const std::string line =
      joined({simulator::meta_value(meta, "hostname"), simulator::meta_value(meta, "processor"),
              device.empty() ? "" : "device " + device, stated_threads(meta)},
             glyphs);
  return line.empty() ? "unknown" : line;
}

/// "frequency penalty 0.5", or nothing where the key is absent.
std::string stated(const Meta& meta, const std::string& key, const std::string& words) {
  const std::string value = simulator::meta_value(meta, key);
  return value.empty() ? value : words + value;
}

std::string decoding_line(const traces::Recording& recording, const Glyphs& glyphs) {
  std::set<std::int32_t> repeats;
  std::set<traces::PromptId> prompts;
  for (const traces::Request& request : recording.requests) {
    repeats.insert(request.repeat);
    prompts.insert(request.prompt_id);
  }
  const std::string limit = simulator::meta_value(recording.meta, "max_tokens");
  const std::string penalty = simulator::meta_value(recording.meta, "repetition_penalty");
  const std::string top_p = simulator::meta_value(recording.meta, "top_p");
  const std::string top_k = simulator::meta_value(recording.meta, "top_k");
  const bool is_greedy = simulator::is_greedy(recording.meta);
  const bool temperature_is_unknown = !simulator::import_note(recording.meta).empty() &&
                                      simulator::meta_value(recording.meta, "temperature").empty();
  const std::string counts = prompts.empty() ? ""
                                             : fmt::format("{} {} {}", counted(prompts.size(), "prompt"),
                                                           glyphs.times(), counted(repeats.size(), "repeat"));
  return joined({temperature_is_unknown ? ""
                 : is_greedy            ? "greedy"
                             : "temperature " + simulator::meta_value(recording.meta, "temperature"),
                 is_greedy || top_p.empty() || top_p == "1" ? "" : "top p " + top_p,
                 is_greedy || top_k.empty() || top_k == "0" ? "" : "top k " + top_k,
                 is_greedy ? "" : stated(recording.meta, "min_p", "min p "),
                 penalty.empty() || penalty == "1" ? "" : "repetition penalty " + penalty,
                 stated(recording.meta, "frequency_penalty", "frequency penalty "),
                 stated(recording.meta, "presence_penalty", "presence penalty "),
                 stated(recording.meta, "logit_bias", "logit bias "),
                 limit.empty() ? "" : "at most " + limit + " new tokens", counts},
                glyphs);
}

}  // namespace

const simulator::Figures& figures_of(const simulator::MeasuredRecording& measured, traces::RunId run) {
  return std::ranges::find_if(measured.figures.runs, [&](const auto& of) { return of.all.run->id == run; })
      ->all;
}

std::string header_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs) {
  const traces::Recording& recording = *measured.recording;
  std::string text;
  const auto add = [&text](std::string_view label, std::string_view line) {
    text += fmt::format("{:<10} {}\n", label, line);
  };
  add("recording",
      joined({recording.path.filename().string(), fmt::format("schema {}", measured.schema_version),
              recording.closed_cleanly ? "closed cleanly" : "not closed cleanly",
              simulator::is_predicted(recording.meta) ? "predicted" : ""},
             glyphs));
  add("model", model_line(recording, glyphs));
  add("machine", machine_line(recording.meta, glyphs));
  if (const std::string line = decoding_line(recording, glyphs); !line.empty()) add("decoding", line);
  if (const std::string line = simulator::differing_settings(recording.meta); !line.empty())
    add("requests", printable(line));
  if (const std::string line = simulator::what_is_traced(recording.meta); !line.empty()) add("traced", line);
  for (const std::string& warning : simulator::warnings(measured)) add("warning", printable(warning));
  return text;
}

}  // namespace draftscope::cli
