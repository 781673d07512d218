// A value that many hold and none changes.
#pragma once

#include <memory>
#include <utility>

namespace mape {

/// Copied at the cost of a pointer; read as a `const T`. Never empty.
template <class T>
class Shared {
public:
    Shared() : Shared(T()) {}
    // NOLINTNEXTLINE(google-explicit-constructor): stands where a T stands
    Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

    [[nodiscard]] const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }

private:
    std::shared_ptr<const T> value_;
};

}  // namespace mape
