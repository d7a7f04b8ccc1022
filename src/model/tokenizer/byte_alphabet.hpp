// The alphabet in which files of byte-level BPE write bytes: a printable character for each of the 256 values ("Ġ" is a
// space), so that tokens are readable text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

//! The character, in UTF-8, that stands for a byte.
std::string_view letter_of_byte(unsigned char byte);

//! The bytes that a token stands for; nothing where it has characters that are not of the alphabet.
std::optional<std::string> bytes_of_letters(std::string_view token);

}  // namespace cudal1
