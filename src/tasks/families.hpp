// Families of modules, one file each in families/.
#pragma once

#include <span>
#include <string_view>

#include "tasks/choices.hpp"
#include "tasks/module.hpp"

namespace cudal1 {

struct ModuleFamily {
  std::string_view name;  //!< "product"
  std::string_view description;
  Module (*describe)(Choices& choices);
};

//! All of them; a generator draws from them evenly.
std::span<const ModuleFamily> module_families();

Module describe_product(Choices& choices);
Module describe_rows(Choices& choices);
Module describe_pointwise(Choices& choices);
Module describe_convolution(Choices& choices);
Module describe_attention(Choices& choices);
Module describe_recurrent(Choices& choices);
Module describe_mix(Choices& choices);

}  // namespace cudal1
