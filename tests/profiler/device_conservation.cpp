// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_conservation.h"

#include <draftscope/traces/reader.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace draftscope::profiler {
namespace {

constexpr std::array<std::string_view, 5> layer_operations{"qkv", "attention", "output projection", "gate up",
                                                           "down"};
/// Norms that have separate kernels where products do not normalise their rows.
constexpr std::array<std::string_view, 2> layer_norms{"attention norm", "mlp norm"};
/// Operations of a pass, and programs, which are passes or rounds as a whole.
constexpr std::array<std::string_view, 8> other_operations{
    "embedding", "head", "round control", "sampling", "forward", "draft step", "verification", "round"};

template <typename Values, typename Value>
bool contains(const Values& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Operation in "operation: kernel"; empty if the name has none.
std::string_view operation_of(std::string_view name) {
  const std::size_t colon = name.find(": ");
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

class Checked {
 public:
  explicit Checked(const traces::Recording& recording,
                   const std::unordered_map<traces::StringId, std::string>& strings)
      : recording_(recording), strings_(strings) {
    for (const traces::Track& track : recording.tracks)
      if (track.kind == "stream") streams_.push_back(track.id);
  }

  void add(const traces::Kernel& kernel) {
    if (!contains(streams_, kernel.track_id) || kernel.round_id == 0) return;
    by_round_[kernel.round_id].push_back(kernel);
    const bool is_kernel = kernel.block_x > 0;
    if (is_kernel) check_name(kernel);
  }

  DeviceConservation finish() {
    check_counts();
    for (const traces::Round& round : recording_.rounds) check_round(round);
    for (const auto& [place, launches] : launches_) check_launches(place, launches);
    if (recording_.rounds.empty()) broken("there are no rounds, expected some");
    return std::move(result_);
  }

 private:
  using LayerOfRound = std::tuple<traces::RoundId, traces::Phase, std::int32_t>;  // round, phase, layer

  template <typename... Arguments>
  void broken(fmt::format_string<Arguments...> line, Arguments&&... arguments) {
    result_.broken.push_back(fmt::format(line, std::forward<Arguments>(arguments)...));
  }

  void check_counts() {
    if (!recording_.meta.contains("device_trace")) return broken("there is no device trace, expected one");
    for (const char* key : {"device_dropped", "device_rejected", "device_unattributed", "device_before_span",
                            "device_failed_calls"}) {
      const auto count = recording_.meta.find(key);
      if (count == recording_.meta.end())
        broken("{} is missing", key);
      else if (count->second != "0")
        broken("{} is {}, expected 0", key, count->second);
    }
  }

  void check_name(const traces::Kernel& kernel) {
    const auto text = strings_.find(kernel.short_name_id);
    const std::string_view name = text == strings_.end() ? std::string_view() : text->second;
    const std::string_view operation = operation_of(name);
    const auto where = [&] { return fmt::format("kernel \"{}\" of round {}", name, kernel.round_id); };
    if (contains(layer_operations, operation) || contains(layer_norms, operation)) {
      if (kernel.layer < 0) return broken("{} has no layer", where());
      ++launches_[{kernel.round_id, kernel.phase, kernel.layer}][std::string(operation)];
    } else if (!contains(other_operations, operation)) {
      broken("{} has no known operation", where());
    } else if (kernel.layer >= 0) {
      broken("{} has layer {}, expected none", where(), kernel.layer);
    }
  }

  /// Checks that a layer ran as a whole: its products equally often, and attention with them.
  void check_launches(const LayerOfRound& place, const std::map<std::string, int>& launches) {
    const auto count = [&](std::string_view operation) {
      const auto found = launches.find(std::string(operation));
      return found == launches.end() ? 0 : found->second;
    };
    for (const std::string_view operation : layer_operations) {
      if (operation == "attention" ? count(operation) > 0 : count(operation) == count("qkv")) continue;
      const auto& [round, phase, layer] = place;
      broken("layer {} of round {} ({}) has {} launches of {}, and {} of qkv", layer, round,
             traces::phase_name(phase), count(operation), operation, count("qkv"));
    }
  }

  void check_round(const traces::Round& round) {
    const auto found = by_round_.find(round.id);
    if (found == by_round_.end()) return broken("round {} has no device work", round.id);
    std::vector<traces::Kernel>& kernels = found->second;
    std::sort(kernels.begin(), kernels.end(), [](const traces::Kernel& a, const traces::Kernel& b) {
      return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
    });
    const std::int64_t first_ns = kernels.front().start_ns;
    std::int64_t last_ns = first_ns;
    std::int64_t busy_ns = 0;
    for (const traces::Kernel& kernel : kernels) {
      busy_ns += std::max<std::int64_t>(kernel.end_ns - std::max(kernel.start_ns, last_ns), 0);
      last_ns = std::max(last_ns, kernel.end_ns);
    }
    const std::int64_t wall_ns = round.end_ns - round.start_ns;
    const std::int64_t gap_ns = (last_ns - first_ns) - busy_ns;
    const std::int64_t host_ns = std::max<std::int64_t>(first_ns - round.start_ns, 0) +
                                 std::max<std::int64_t>(round.end_ns - last_ns, 0);
    const std::int64_t parts_ns = busy_ns + gap_ns + host_ns;
    const double share = static_cast<double>(std::abs(parts_ns - wall_ns)) /
                         static_cast<double>(std::max<std::int64_t>(wall_ns, 1));
    if (share > max_missing_share)
      broken("round {}: {} ns busy, {} ns in gaps and {} ns of the host are {} ns, expected {} ns", round.id,
             busy_ns, gap_ns, host_ns, parts_ns, wall_ns);
    result_.rounds += 1;
    result_.activities += static_cast<std::int64_t>(kernels.size());
    result_.wall_ns += wall_ns;
    result_.busy_ns += busy_ns;
    result_.gap_ns += gap_ns;
    result_.host_ns += host_ns;
    result_.worst_share = std::max(result_.worst_share, share);
  }

  const traces::Recording& recording_;
  const std::unordered_map<traces::StringId, std::string>& strings_;
  std::vector<traces::TrackId> streams_;
  std::map<traces::RoundId, std::vector<traces::Kernel>> by_round_;
  std::map<LayerOfRound, std::map<std::string, int>> launches_;
  DeviceConservation result_;
};

}  // namespace

Result<DeviceConservation> device_conservation(const std::filesystem::path& trace) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(trace));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  Checked checked(recording, strings);
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    checked.add(kernel);
    return true;
  }));
  return checked.finish();
}

}  // namespace draftscope::profiler
