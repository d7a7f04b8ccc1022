// PTX as it is written: what the parser makes of the text, before anything is decoded or judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cudal1::ptx {

enum class Space { reg, global, constant, shared, local, param };

//! Where an instruction comes from. Lines of the programmer's source count from 1; 0: unknown.
struct Location {
  int file = 0;  //!< index into Module::files
  int line = 0, column = 0;
  int ptx_line = 0;
};

//! A variable outside registers. In parameter lists also what a kernel is called with.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::string type;                   //!< of an element: "b8", "f32"
  std::uint64_t alignment = 1;        //!< in bytes
  std::uint64_t elements = 1;         //!< 0 for an array without a size (dynamic shared memory)
  std::vector<std::uint8_t> initial;  //!< bytes; empty: zero, or undefined outside global and constant memory
  bool external = false;

  std::uint64_t bytes() const;
};

//! A family of registers: %r<26> declares %r0 to %r25; count 0 declares the name itself.
struct RegisterFamily {
  std::string name, type;
  std::uint32_t count = 0;
};

struct Operand {
  enum class Kind {
    name,      //!< a register, special register, variable, label or function, maybe with an offset: table+16
    integer,   //!< bits holds it
    floating,  //!< bits holds an f64 (decimal and 0d…) or f32 (0f…), as `single` says
    address,   //!< [elements[0] + offset]
    list,      //!< {a, b} or (a, b)
  };
  Kind kind = Kind::name;
  std::string name;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  bool single = false;   //!< of a floating one
  bool negated = false;  //!< !%p
  std::vector<Operand> elements;
};

struct Guard {
  std::string predicate;
  bool negated = false;
};

struct Instruction {
  std::string opcode;                  //!< "ld"
  std::vector<std::string> modifiers;  //!< "global", "nc", "f32"
  std::optional<Guard> guard;
  std::vector<Operand> operands;
  Location at;

  //! As written, without operands: "ld.global.nc.f32".
  std::string full_opcode() const;
};

struct Function {
  std::string name;
  bool is_entry = false, is_declaration = false;
  std::vector<Variable> parameters, results;
  std::vector<RegisterFamily> registers;
  std::vector<Variable> variables;  //!< local and shared memory, parameters of calls; names are unique in the function
  std::vector<Instruction> instructions;
  std::map<std::string, std::size_t> labels;                       //!< -> index of the instruction that follows
  std::map<std::string, std::vector<std::string>> branch_targets;  //!< tables of brx.idx
  std::map<std::string, std::vector<std::uint32_t>> limits;        //!< .maxntid and its kin
  std::set<std::size_t> rolled_loops;  //!< first instructions of loops with .pragma "nounroll"
};

struct Module {
  std::string version, target;
  std::map<int, std::string> files;
  std::vector<Variable> variables;
  std::vector<Function> functions;

  const Function* find(const std::string& name) const;
};

//! Bytes of a scalar type as PTX names it; 0 for unknown ones. Predicates take one.
std::uint64_t bytes_of_type(const std::string& type);

}  // namespace cudal1::ptx
