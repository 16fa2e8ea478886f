// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory/shared_memory.h"

#include <algorithm>

namespace draftscope::ptx {

std::optional<int> SharedMemory::touch(Users& users, int warp, Touch how) const {
  if (users.epoch != epoch_) users = {.epoch = epoch_};
  const auto me = static_cast<std::int8_t>(warp);
  const auto other = [me](std::int8_t who) { return who != nobody && who != me; };
  if (other(users.writer)) return users.writer;
  if (how != Touch::read && other(users.reader)) return users.reader;
  if (how != Touch::atomic && other(users.atomic)) return users.atomic;
  std::int8_t& mine = how == Touch::read ? users.reader : how == Touch::write ? users.writer : users.atomic;
  mine = mine == nobody || mine == me ? me : several;
  return std::nullopt;
}

std::optional<int> SharedMemory::touch(std::size_t offset, std::size_t bytes, int warp, Touch how) {
  std::optional<int> race;
  for (std::size_t at = offset; at < offset + bytes && !race;) {
    const std::size_t end = std::min(offset + bytes, at / 4 * 4 + 4);
    Unit& unit = units_[at / 4];
    if (!unit.is_split && end - at == 4) {
      race = touch(unit.users, warp, how);
    } else {
      std::array<Users, 4>& each = split_[at / 4];
      if (!unit.is_split) each.fill(unit.users);
      unit.is_split = true;
      for (std::size_t i = at; i < end && !race; ++i) race = touch(each[i % 4], warp, how);
    }
    at = end;
  }
  return race;
}

void SharedMemory::expect(std::size_t offset, std::size_t bytes) {
  awaited_.resize(data_.size());
  std::fill_n(awaited_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::uint8_t{1});
  n_awaited_ += bytes;
}

void SharedMemory::receive(std::size_t offset, std::size_t bytes) {
  std::fill_n(awaited_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::uint8_t{0});
  n_awaited_ -= bytes;
}

bool SharedMemory::awaits(std::size_t offset, std::size_t bytes) const {
  if (n_awaited_ == 0) return false;
  const auto first = awaited_.begin() + static_cast<std::ptrdiff_t>(offset);
  return std::find(first, first + static_cast<std::ptrdiff_t>(bytes), 1) !=
         first + static_cast<std::ptrdiff_t>(bytes);
}

}  // namespace draftscope::ptx
