// Owner of a C library's object: Handle<nftnl_rule, nftnl_rule_free>.
#pragma once

#include <memory>

namespace mape {

template <auto Close>
struct HandleCloser {
    template <class T>
    void operator()(T* object) const
    {
        Close(object);
    }
};

template <class T, auto Close>
using Handle = std::unique_ptr<T, HandleCloser<Close>>;

}  // namespace mape
