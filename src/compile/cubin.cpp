#include "compile/cubin.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "compile/ptx_globals.hpp"
#include "compile/refusals.hpp"

namespace cudal1 {
namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint32_t section_type_no_bits = SHT_NOBITS;

struct Malformed {};  // ends the inspection from wherever a bound is broken

//! A copy of the structure at this offset; memcpy because cubins promise no alignment.
template <class T>
T structure_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) throw Malformed();
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view range(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) throw Malformed();
  return bytes.substr(offset, size);
}

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) throw Malformed();
  const std::string_view rest = table.substr(offset);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) throw Malformed();
  return rest.substr(0, end);
}

struct Symbol {
  Elf64_Sym entry;
  std::string_view name;
  int type() const { return ELF64_ST_TYPE(entry.st_info); }
};

class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    const auto header = structure_at<Elf64_Ehdr>(bytes, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != machine_cuda || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
        header.e_shstrndx >= header.e_shnum)
      throw Malformed();
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      if (header.e_shoff > bytes.size()) throw Malformed();
      sections_.push_back(structure_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    names_ = content(sections_[header.e_shstrndx]);
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view name(const Elf64_Shdr& section) const { return text_at(names_, section.sh_name); }
  std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == section_type_no_bits) return {};
    return range(bytes_, section.sh_offset, section.sh_size);
  }
  const Elf64_Shdr& section(std::uint64_t index) const {
    if (index >= sections_.size()) throw Malformed();
    return sections_[index];
  }

  std::vector<Symbol> symbols() const {
    std::vector<Symbol> found;
    for (const auto& section : sections_)
      if (section.sh_type == SHT_SYMTAB) add_symbols(section, found);
    return found;
  }
  //! Something that lies in a section of this file.
  bool is_variable(const Symbol& symbol) const {
    const bool here = symbol.entry.st_shndx != SHN_UNDEF && symbol.entry.st_shndx < SHN_LORESERVE;
    return here && symbol.type() != STT_SECTION && symbol.type() != STT_FILE;
  }
  std::string_view section_name(const Symbol& symbol) const { return name(section(symbol.entry.st_shndx)); }

 private:
  void add_symbols(const Elf64_Shdr& table, std::vector<Symbol>& found) const {
    const std::string_view symbols = content(table);
    const std::string_view names = content(section(table.sh_link));
    for (std::uint64_t offset = sizeof(Elf64_Sym); offset + sizeof(Elf64_Sym) <= symbols.size();
         offset += sizeof(Elf64_Sym)) {
      const auto entry = structure_at<Elf64_Sym>(symbols, offset);
      found.push_back({entry, text_at(names, entry.st_name)});
    }
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view names_;
};

bool holds_globals(std::string_view section) { return section == ".nv.global" || section.starts_with(".nv.global."); }

//! Bank 3 holds `__constant__` variables; the other banks are the compiler's own and have no names.
bool holds_constants(std::string_view section) { return section == ".nv.constant3"; }

class Inspection {
 public:
  Inspection(std::string_view cubin, std::string_view ptx) : elf_(cubin), ptx_(ptx) {}

  std::optional<std::string> run() {
    const std::vector<Symbol> symbols = elf_.symbols();
    // Calls first: printf brings its format string as a global, and is the better reason.
    for (const Symbol& symbol : symbols)
      if (auto reason = inspect_undefined(symbol)) return reason;
    for (const Symbol& symbol : symbols)
      if (auto reason = inspect_variable(symbol)) return reason;
    // Memory without any name: nothing can show that it is only read.
    for (std::size_t i = 0; i < elf_.sections().size(); ++i) {
      const auto& section = elf_.sections()[i];
      if (section.sh_size > 0 && holds_globals(elf_.name(section)) && !named_sections_.contains(i))
        return "the program has device globals without a name; use a `buffer`";
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> inspect_variable(const Symbol& symbol) {
    if (!elf_.is_variable(symbol)) return std::nullopt;
    const std::string_view section = elf_.section_name(symbol);
    const bool global = holds_globals(section);
    if (!global && !holds_constants(section)) return std::nullopt;
    named_sections_.insert(symbol.entry.st_shndx);
    if (read_only().contains(std::string(symbol.name))) return std::nullopt;
    return global ? refused_global(symbol.name) : refused_constant(symbol.name);
  }

  static std::optional<std::string> inspect_undefined(const Symbol& symbol) {
    if (symbol.entry.st_shndx != SHN_UNDEF) return std::nullopt;
    // The driver provides names with a leading dot (reserved shared memory).
    if (symbol.name.empty() || symbol.name.starts_with(".")) return std::nullopt;
    if (symbol.type() == STT_SECTION) return std::nullopt;
    return refused_call(symbol.name);
  }

  const std::set<std::string>& read_only() {
    if (!read_only_) read_only_ = read_only_globals(ptx_);
    return *read_only_;
  }

  Elf elf_;
  std::string_view ptx_;
  std::optional<std::set<std::string>> read_only_;
  std::set<std::size_t> named_sections_;
};

}  // namespace

std::optional<std::string> forbidden_content(std::string_view cubin, std::string_view ptx) {
  try {
    return Inspection(cubin, ptx).run();
  } catch (const Malformed&) {
    return "the compiled program is not a well-formed cubin";
  }
}

std::vector<std::string> module_variables(std::string_view cubin) {
  std::vector<std::string> found;
  try {
    const Elf elf(cubin);
    for (const Symbol& symbol : elf.symbols()) {
      if (!elf.is_variable(symbol)) continue;
      const std::string_view section = elf.section_name(symbol);
      if (holds_globals(section) || holds_constants(section)) found.emplace_back(symbol.name);
    }
  } catch (const Malformed&) {
    throw Error("the compiled program is not a well-formed cubin");
  }
  return found;
}

}  // namespace cudal1
