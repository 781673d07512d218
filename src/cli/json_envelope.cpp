#include "cli/json.h"
#include "cli/output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mape::cli {

namespace {

using nlohmann::ordered_json;

std::string_view kind_of(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::input: return "input";
    case ErrorKind::failed: return "failed";
    case ErrorKind::privilege: return "privilege";
    case ErrorKind::undo_failed: return "undo_failed";
    }
    return "failed";
}

ordered_json text_or_null(const std::string& text)
{
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json error_object(const Error& error)
{
    return {{"kind", kind_of(error.kind)},
            {"message", error.message},
            {"errno", error.errnum == 0 ? ordered_json(nullptr) : ordered_json(error.errnum)},
            {"kernel_message", text_or_null(error.kernel_message)},
            {"hint", text_or_null(error.hint)}};
}

}  // namespace

ordered_json envelope(const ordered_json* fields, std::string_view names, bool changed,
                      const std::vector<std::string>& warnings, const Error* error)
{
    ordered_json document{{"schema", json_schema}};
    if (fields) {
        document.update(*fields);
    } else {
        while (!names.empty()) {
            const auto length = std::min(names.find(' '), names.size());
            document[std::string(names.substr(0, length))] = nullptr;
            names.remove_prefix(std::min(length + 1, names.size()));
        }
    }
    document["changed"] = changed;
    document["warnings"] = warnings;
    document["error"] = error ? error_object(*error) : ordered_json(nullptr);
    return document;
}

std::string to_line(const ordered_json& document)
{
    // A value from argv or a file need not be UTF-8; what cannot be said in JSON is replaced, not thrown about.
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_document(const ordered_json& document)
{
    // A field a line: readable, and 63 port ranges do not become 252 lines.
    std::string text = "{\n";
    for (const auto& [name, value] : document.items()) {
        std::string line = to_line(value);
        line.pop_back();
        text += fmt::format("{}  \"{}\": {}", text.size() > 2 ? ",\n" : "", name, line);
    }
    return text + "\n}\n";
}

Output::Output() = default;
Output::~Output() = default;

void Output::set_json(ordered_json fields)
{
    fields_ = std::make_unique<ordered_json>(std::move(fields));
}

void Output::print_json(std::string_view fields, const Error* error)
{
    write(to_document(envelope(fields_.get(), fields, changed_, warnings_, error)));
}

}  // namespace mape::cli
