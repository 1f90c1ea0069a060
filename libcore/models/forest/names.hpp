// The names of settings, on the command line, in records and in model files.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "models/forest/estimator.hpp"

namespace kernelcast::forest {

template <class E, std::size_t N>
using Words = std::array<std::pair<std::string_view, E>, N>;

inline constexpr Words<Criterion, 2> criterion_words{{{"mse", Criterion::mse}, {"mae", Criterion::mae}}};
inline constexpr Words<MaxFeatures, 3> max_features_words{
    {{"all", MaxFeatures::all}, {"log2", MaxFeatures::log2}, {"sqrt", MaxFeatures::sqrt}}};
inline constexpr Words<Cuts, 2> cuts_words{{{"uniform", Cuts::uniform}, {"log", Cuts::log}}};
inline constexpr Words<Scale, 2> scale_words{{{"log", Scale::log}, {"plain", Scale::plain}}};
inline constexpr Words<TargetForm, 2> target_form_words{{{"direct", TargetForm::direct}, {"ratio", TargetForm::ratio}}};
inline constexpr Words<Objective, 2> objective_words{{{"mean", Objective::mean}, {"relative", Objective::relative}}};

template <class E, std::size_t N>
std::string word(Words<E, N> const& words, E value) {
  for (auto const& [text, meaning] : words)
    if (meaning == value) return std::string(text);
  return {};
}

// Null for no such word.
template <class E, std::size_t N>
E const* find_word(Words<E, N> const& words, std::string_view text) {
  for (auto const& entry : words)
    if (entry.first == text) return &entry.second;
  return nullptr;
}

}  // namespace kernelcast::forest
