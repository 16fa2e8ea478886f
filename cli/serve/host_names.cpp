// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/host_names.h"

#include <draftscope/base/ascii.h>
#include <unistd.h>

#include <array>

namespace draftscope::cli {

namespace {

bool is_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string name_of_this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? in_lower_case(name.data()) : std::string();
}

}  // namespace

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_address(host));
}

bool is_known_host(std::string_view host, const std::vector<std::string>& names) {
  if (is_loopback(host)) return true;
  for (const std::string& name : names) {
    if (in_lower_case(name) == host) return true;
    const bool is_any = name == "0.0.0.0" || name == "::";
    if (is_any && (is_address(host) || (!host.empty() && host == name_of_this_machine()))) return true;
  }
  return false;
}

std::string host_of_authority(std::string_view authority) {
  const bool is_bracketed = authority.starts_with('[');
  std::string_view host =
      is_bracketed ? authority.substr(1, authority.find(']') - 1) : authority.substr(0, authority.find(':'));
  if (!is_bracketed && host.ends_with('.')) host.remove_suffix(1);
  return in_lower_case(host);
}

std::string host_of_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return host_of_authority(origin.substr(scheme.size()));
  return {};
}

}  // namespace draftscope::cli
