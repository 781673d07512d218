// A visitor out of lambdas, one an alternative of a std::variant.
#pragma once

namespace mape {

template <class... Visitors>
struct overloaded : Visitors... {
    using Visitors::operator()...;
};

}  // namespace mape
