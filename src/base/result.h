// Result<T>: a value or an Error. tl::expected until the compilers of Debian stable have std::expected.
#pragma once

#include "base/error.h"

#include <tl/expected.hpp>
#include <utility>

namespace mape {

template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(input_error("..."));`
[[nodiscard]] inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>(std::move(error));
}

}  // namespace mape
