// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The HTTP side of a server: paths, bodies, streams and errors. A connection carries one request.

#include <draftscope/base/result.h>
#include <draftscope/engine/recording/run_identity.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "options/model_options.h"
#include "serve/exchange.h"

namespace draftscope::cli {

/// Connections beyond those of waiting completions, so that health and metrics answer and a full queue is
/// reported.
inline constexpr std::size_t spare_connections = 8;

struct ServedModel {
  const LoadedModel* model = nullptr;   ///< Not owned.
  std::string name;                     ///< Name of the model for clients.
  std::string path;                     ///< Name by which the command line knows it; clients may use it too.
  std::int32_t cache_rows = 0;          ///< Maximum tokens of prompt and output.
  engine::DecodingOptions defaults;     ///< Settings that a request leaves open.
  std::size_t max_connections = 0;      ///< Connections that are served at a time; more wait.
  std::vector<std::string> host_names;  ///< Names of the server beside loopback's (host_names.h).
};

/// Prompt of a request as tokens and text. Errors: text that can't be encoded, a conversation that the chat
/// template refuses, token ids outside the vocabulary, more tokens than the context holds.
[[nodiscard]] Result<std::shared_ptr<Completion>> prepare_completion(const ServedModel& served,
                                                                     CompletionRequest request);

class Endpoint {
 public:
  /// `exchange` is not owned.
  Endpoint(Exchange& exchange, ServedModel served);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();  ///< Stops.

  /// Takes the port, 0 = any that is free, and returns it. Errors: a port in use, a host that is no address
  /// of this machine.
  [[nodiscard]] Result<std::int32_t> bind(const std::string& host, std::int32_t port);
  /// Answers clients, in threads of its own, until stop().
  void start();
  /// Waits for running answers, and ends the threads.
  void stop();
  /// Whether listening ended without stop(), which closes the exchange.
  [[nodiscard]] bool failed() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::cli
