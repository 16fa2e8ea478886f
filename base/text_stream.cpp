// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/text_file.h>
#include <draftscope/base/text_stream.h>
#include <zlib.h>
#ifdef DRAFTSCOPE_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ios>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace draftscope {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16U;
constexpr std::int64_t free_text_bytes = std::int64_t{64} << 20U;
constexpr std::int64_t max_text_per_file_bytes = 256;

/// Result of one step of unpacking.
struct Step {
  std::size_t taken = 0;
  std::size_t given = 0;
  bool is_at_end = false;       ///< Whether a packed part ended; another one may follow.
  const char* fault = nullptr;  ///< The library's words about packed data that it can't read.
};

/// Unpacks a file, one packed part after the other.
class Unpacker {
 public:
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;
  virtual Step step(std::string_view packed, std::string& text) = 0;
};

/// Unpacks gzip (RFC 1952).
class Gzip final : public Unpacker {
 public:
  Gzip() {
    constexpr int gzip_window_bits = 15 + 16;  // zlib's number for the greatest window in gzip's form
    if (inflateInit2(&state_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&state_); }

  Step step(std::string_view packed, std::string& text) override {
    // zlib reads what next_in points to, and writes nothing there.
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    state_.avail_in = static_cast<uInt>(packed.size());
    state_.next_out = reinterpret_cast<Bytef*>(text.data());
    state_.avail_out = static_cast<uInt>(text.size());
    const int code = inflate(&state_, Z_NO_FLUSH);
    const bool is_damaged = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
    const Step step{packed.size() - state_.avail_in, text.size() - state_.avail_out, code == Z_STREAM_END,
                    is_damaged ? zError(code) : nullptr};
    if (step.is_at_end) inflateReset(&state_);
    return step;
  }

 private:
  z_stream state_{};
};

#ifdef DRAFTSCOPE_ZSTD
/// Unpacks zstd (RFC 8878) with windows of up to 128 MiB, the library's default.
class Zstd final : public Unpacker {
 public:
  Zstd() {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() override { ZSTD_freeDStream(state_); }

  Step step(std::string_view packed, std::string& text) override {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{text.data(), text.size(), 0};
    const std::size_t code = ZSTD_decompressStream(state_, &out, &in);
    return {in.pos, out.pos, code == 0, ZSTD_isError(code) != 0 ? ZSTD_getErrorName(code) : nullptr};
  }

 private:
  ZSTD_DStream* state_ = ZSTD_createDStream();
};
constexpr auto make_zstd = []() -> std::unique_ptr<Unpacker> { return std::make_unique<Zstd>(); };
constexpr std::string_view readable = "a text, a gzip or a zstd file";
#else
constexpr std::nullptr_t make_zstd = nullptr;
constexpr std::string_view readable = "a text or a gzip file";
#endif

/// An encoding of a text other than plain UTF-8.
struct Encoding {
  std::string_view name;
  std::string_view head;                              ///< First bytes of its files.
  std::string_view command;                           ///< Command that makes plain text of them.
  std::unique_ptr<Unpacker> (*unpacker)() = nullptr;  ///< Null: such a file is named, and not read here.
  std::string_view relation = "compressed with";      ///< Words between "is" and the name in a message.
};
/// The second row of zstd is a part that holds no text, with which pzstd begins a file.
constexpr std::array encodings{
    Encoding{"gzip", "\x1f\x8b", "gzip -d",
             []() -> std::unique_ptr<Unpacker> { return std::make_unique<Gzip>(); }},
    Encoding{"zstd", "\x28\xb5\x2f\xfd", "zstd -d", make_zstd},
    Encoding{"zstd", "\x50\x2a\x4d\x18", "zstd -d", make_zstd},
    Encoding{"UTF-16", "\xff\xfe", "iconv -f UTF-16 -t UTF-8", nullptr, "text in"},
    Encoding{"UTF-16", "\xfe\xff", "iconv -f UTF-16 -t UTF-8", nullptr, "text in"},
    Encoding{"xz", {"\xfd\x37zXZ\0", 6}, "xz -d"},
    Encoding{"bzip2", "BZh", "bzip2 -d"},
    Encoding{"zip", "PK\x03\x04", "unzip"},
    Encoding{"7z", "7z\xbc\xaf\x27\x1c", "7z x"},
    Encoding{"lz4", "\x04\x22\x4d\x18", "lz4 -d"}};

const Encoding* known_encoding(std::string_view head) {
  const auto* const found =
      std::ranges::find_if(encodings, [&](const Encoding& one) { return head.starts_with(one.head); });
  return found == encodings.end() ? nullptr : found;
}

}  // namespace

bool is_encoded(std::string_view head) {
  return known_encoding(head) != nullptr;
}

class TextStream::Buffer : public std::streambuf {
 public:
  Buffer(const std::filesystem::path& file, bool may_be_cut) : name_(file.string()), may_be_cut_(may_be_cut) {
    if (auto regular = check_regular_file(file); !regular) {
      error_ = std::move(regular).error();
      return;
    }
    stream_.open(file, std::ios::binary);
    read_block();
    const Encoding* const encoding = known_encoding(packed_);
    if (encoding == nullptr || error_) return;
    packing_ = encoding->name;
    if (encoding->unpacker != nullptr) {
      unpacker_ = encoding->unpacker();
      text_.resize(block_bytes);
    } else {
      error_ = Error{fmt::format("{}: is {} {}, expected {} ({} makes one)", name_, encoding->relation,
                                 encoding->name, readable, encoding->command)};
    }
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_packed() const { return unpacker_ != nullptr; }

 protected:
  // The stream catches what is thrown here, and is bad from then on.
  int_type underflow() override {
    if (error_) throw std::ios_base::failure(error_->message);
    std::string& text = unpacker_ == nullptr ? packed_ : text_;
    const std::size_t count = unpacker_ == nullptr ? next_plain() : next_unpacked();
    if (error_) throw std::ios_base::failure(error_->message);
    if (count == 0) return traits_type::eof();
    setg(text.data(), text.data(), text.data() + count);
    return traits_type::to_int_type(text.front());
  }

 private:
  void read_block() {
    packed_.resize(block_bytes);
    stream_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    if (stream_.bad() || !stream_.is_open())
      error_ = Error{fmt::format("{}: can't be read: {}", name_, std::strerror(errno))};
    packed_.resize(static_cast<std::size_t>(stream_.gcount()));
    bytes_ += static_cast<std::int64_t>(packed_.size());
    taken_ = 0;
  }

  std::size_t next_plain() {
    // The first block was read when the file was opened.
    if (std::exchange(is_first_taken_, true)) read_block();
    return packed_.size();
  }

  std::size_t next_unpacked() {
    while (true) {
      // What did not fit into the text before comes without further bytes of the file.
      if (taken_ == packed_.size() && !holds_more_) read_block();
      if ((packed_.empty() && !holds_more_) || error_) {
        if (is_inside_ && !may_be_cut_)
          stop("ends within its packed text, expected the whole file (--partial takes what is there)");
        return 0;
      }
      is_inside_ = true;
      const bool has_input = taken_ < packed_.size();
      const Step step = unpacker_->step(std::string_view(packed_).substr(taken_), text_);
      holds_more_ = step.given == text_.size() && !step.is_at_end;
      taken_ += step.taken;
      unpacked_bytes_ += static_cast<std::int64_t>(step.given);
      const bool is_stuck = has_input && step.taken + step.given == 0 && !step.is_at_end;
      if (step.fault != nullptr || is_stuck)
        stop(fmt::format("can't be unpacked ({}: {}), expected a whole {} file", packing_,
                         step.fault != nullptr ? step.fault : "no progress", packing_));
      if (unpacked_bytes_ > free_text_bytes && unpacked_bytes_ / max_text_per_file_bytes > bytes_)
        stop(fmt::format("unpacks to more than {} times its length, expected a text",
                         max_text_per_file_bytes));
      if (error_) return 0;
      if (step.is_at_end) is_inside_ = false;
      if (step.given > 0) return step.given;
    }
  }

  void stop(std::string_view reason) { error_ = Error{fmt::format("{}: {}", name_, reason)}; }

  std::string name_;
  std::string_view packing_;
  bool may_be_cut_;
  std::ifstream stream_;
  std::unique_ptr<Unpacker> unpacker_;  ///< Null for a plain file.
  std::string packed_;                  ///< A block of the file as it is.
  std::string text_;                    ///< A block of the unpacked text.
  std::size_t taken_ = 0;               ///< Bytes of `packed_` that were unpacked.
  std::int64_t bytes_ = 0;
  std::int64_t unpacked_bytes_ = 0;
  bool is_first_taken_ = false;
  bool holds_more_ = false;  ///< Whether the unpacker may have text of bytes that it took.
  bool is_inside_ = false;   ///< Whether a packed part has begun and not ended.
  std::optional<Error> error_;
};

TextStream::TextStream(const std::filesystem::path& file, bool may_be_cut)
    : std::istream(nullptr), buffer_(std::make_unique<Buffer>(file, may_be_cut)) {
  rdbuf(buffer_.get());
  if (buffer_->error()) setstate(std::ios::badbit);
}

TextStream::~TextStream() = default;

Result<void> TextStream::result() const {
  if (!buffer_->error()) return {};
  return tl::unexpected<Error>(*buffer_->error());
}

std::int64_t TextStream::bytes_of_file() const {
  return buffer_->bytes();
}

bool TextStream::is_packed() const {
  return buffer_->is_packed();
}

}  // namespace draftscope
