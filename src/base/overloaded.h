// A visitor out of lambdas, one an alternative of a std::variant.
#pragma once

namespace mape {

template <class... Visitors>
struct overloaded : Visitors... {
    using Visitors::operator()...;
};
// Before version 17 clang cannot deduce the arguments of an aggregate (P1816).
template <class... Visitors>
overloaded(Visitors...) -> overloaded<Visitors...>;

}  // namespace mape
