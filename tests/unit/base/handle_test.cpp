#include "base/handle.h"

#include <doctest/doctest.h>

namespace {

struct Object {
    int* closed;
};

void close_object(Object* object)
{
    ++*object->closed;
    delete object;
}

}  // namespace

TEST_CASE("an object of a C library is freed once")
{
    int closed = 0;
    {
        mape::Handle<Object, close_object> first(new Object{&closed});
        const mape::Handle<Object, close_object> second = std::move(first);
        CHECK(closed == 0);
        CHECK(second);
    }
    CHECK(closed == 1);
}
