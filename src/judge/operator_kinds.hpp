// What kinds of operators the match rule tells apart, by names without "aten::" and overload.
#pragma once

#include <string_view>

namespace cudal1 {

//! Whatever the arguments are.
bool gives_whole_numbers(std::string_view op);

//! Every element of the result is one of an argument, or a number that is given.
bool chooses(std::string_view op);

//! Among its results are places of elements: between equals, or what is equal but for rounding, any may be named.
bool gives_places(std::string_view op);

//! Sums and products of whole numbers are whole. (Convolutions may round them to TF32.)
bool computes_in_whole_numbers(std::string_view op);

//! Matrix products and convolutions, for which there are fast algorithms.
bool multiplies_matrices(std::string_view op);

//! Functions of real numbers that are not continuous; those that give integers or booleans are found by their dtypes.
bool steps(std::string_view op);

}  // namespace cudal1
